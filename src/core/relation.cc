#include "relation.h"

#include "format/format.h"
#include "settings.h"

#include <algorithm>
#include <new>
#include <string_view>

namespace
{

using namespace cpp_output;

// Copies descriptions into an arena.
class copier
{
public:
	explicit copier(std::pmr::memory_resource &arena) noexcept : arena_(arena) {}

	template <typename T> T *array(std::size_t n)
	{
		return static_cast<T *>(arena_.allocate(n * sizeof(T), alignof(T)));
	}

	CpoSpan span(const CpoSpan &source)
	{
		if (source.data == nullptr)
			return source;
		char *copy = array<char>(source.len);
		std::copy_n(source.data, source.len, copy);
		return {copy, source.len};
	}

	const CpoType *type(const CpoType *source)
	{
		if (source == nullptr)
			return nullptr;
		auto *copy = new (array<CpoType>(1)) CpoType(*source);
		copy->element = type(source->element);
		auto *fields = array<CpoField>(source->nfields);
		for (std::size_t i = 0; i < source->nfields; ++i)
			new (&fields[i]) CpoField{span(source->fields[i].name), type(source->fields[i].type)};
		copy->fields = fields;
		return copy;
	}

	const CpoColumn *columns(const CpoColumn *source, std::size_t n)
	{
		auto *copy = array<CpoColumn>(n);
		for (std::size_t i = 0; i < n; ++i) {
			auto *c = new (&copy[i]) CpoColumn(source[i]);
			for (CpoSpan *text :
				{&c->name, &c->quoted_name, &c->type_name, &c->typmod_name, &c->catalog_name,
					&c->base_typmod_name, &c->base_catalog_name, &c->default_expr})
				*text = span(*text);
			c->type = type(source[i].type);
		}
		return copy;
	}

private:
	std::pmr::memory_resource &arena_;
};

// Is there anything that identifies an old row?
bool identified(const CpoRelationInfo &info)
{
	return info.replica_identity == 'f' ||
		   std::any_of(info.columns, info.columns + info.ncolumns,
			   [](const CpoColumn &column) { return column.in_identity; });
}

bool passes(const settings &settings, const format &format, const CpoRelationInfo &info, CpoAct act)
{
	const std::string_view schema = view(info.schema);
	const std::string_view name = view(info.name);
	return (settings.acts & act_bit(act)) != 0 &&
		   (settings.tables.empty() || settings.tables.match(schema, name)) &&
		   !settings.exclude_tables.match(schema, name) && format.wants_relation(info, act);
}

} // namespace

void CpoRelation::define(
	const CpoRelationInfo &source, const cpp_output::settings &settings, cpp_output::format &format)
{
	wanted_acts = 0; // in case that this ends early
	arena.release();
	copier copy(arena);
	info = source;
	info.schema = copy.span(source.schema);
	info.name = copy.span(source.name);
	info.quoted_name = copy.span(source.quoted_name);
	info.root_schema = copy.span(source.root_schema);
	info.root_name = copy.span(source.root_name);
	info.columns = copy.columns(source.columns, source.ncolumns);
	identity = identified(info);

	bool *flags = copy.array<bool>(info.ncolumns);
	for (std::size_t i = 0; i < info.ncolumns; ++i)
		flags[i] = !settings.exclude_columns.match(
			view(info.schema), view(info.name), view(info.columns[i].name));
	needed = flags;

	unsigned acts = 0;
	for (const CpoAct act : {CPO_INSERT, CPO_UPDATE, CPO_DELETE, CPO_TRUNCATE})
		if (passes(settings, format, info, act))
			acts |= act_bit(act);
	plan = acts != 0 ? format.plan(*this, arena) : nullptr;
	wanted_acts = acts;
}
