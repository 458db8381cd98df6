/*
 * describe.c
 *	  A relation's description for the core, read from the catalogs.
 *
 * All of it runs under the historic snapshot of the change that is being
 * decoded.  In a transaction in progress any of it may raise an ERROR, when
 * that transaction has been aborted meanwhile.
 */
#include "describe.h"

#include "access/genam.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/objectaddress.h"
#include "catalog/partition.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_index.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
#include "mb/pg_wchar.h"

#include "output_settings.h"
#include "text.h"

/* What is handed down while a relation is described. */
typedef struct Describer
{
	const CpoConfig	  *config;
	unsigned		   settings; /* SETTING_... that matter: none in native formats */
	DependencyCallback depends;
	void			  *arg;
} Describer;

/* Composite types nest, and may contain arrays of themselves by a trick. */
#define MAX_TYPE_DEPTH 32

static CpoSpan
name_span(const Describer *describer, const char *name)
{
	CpoSpan span = {name, name ? strlen(name) : 0};

	return describer->config->utf8_text ? text_to_utf8(span) : span;
}

static void
depend_on_schema(const Describer *describer, Oid schema)
{
	describer->depends(describer->arg, NAMESPACEOID,
					   GetSysCacheHashValue1(NAMESPACEOID, ObjectIdGetDatum(schema)));
}

/* --- types ---------------------------------------------------------------- */

static CpoKind
kind_of_type(Oid type)
{
	switch (type)
	{
		case BOOLOID:
			return CPO_BOOL;
		case INT2OID:
		case INT4OID:
			return CPO_INTEGER;
		case INT8OID:
			return CPO_BIGINT;
		case OIDOID:
		case XIDOID:
		case CIDOID:
			return CPO_OIDS;
		case FLOAT4OID:
		case FLOAT8OID:
			return CPO_FLOAT;
		case NUMERICOID:
			return CPO_NUMERIC;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case NAMEOID:
			return CPO_STRING;
		case CHAROID:
			return CPO_CHAR;
		case BYTEAOID:
			return CPO_BYTEA;
		case DATEOID:
			return CPO_DATE;
		case TIMEOID:
			return CPO_TIME;
		case TIMESTAMPOID:
			return CPO_TIMESTAMP;
		case TIMESTAMPTZOID:
			return CPO_TIMESTAMPTZ;
		case UUIDOID:
			return CPO_UUID;
		case JSONOID:
		case JSONBOID:
			return CPO_JSON;
		case BITOID:
		case VARBITOID:
			return CPO_BIT;
		default:
			return CPO_OTHER;
	}
}

/*
 * How a value of a type that the core can print is gathered; by its output
 * function where the session's settings ask for another form of it.
 */
static GatherKind
gather_kind(const Describer *describer, const CpoType *type)
{
	unsigned settings = describer->settings;

	switch (type->kind)
	{
		case CPO_BOOL:
			return GATHER_BOOL;
		case CPO_INTEGER:
			return type->oid == INT2OID ? GATHER_INT16 : GATHER_INT32;
		case CPO_BIGINT:
		case CPO_TIME:
			return GATHER_INT64;
		case CPO_OIDS:
			return GATHER_UINT32;
		case CPO_FLOAT:
			if (settings & SETTING_FLOATS)
				return GATHER_OUTPUT;
			return type->oid == FLOAT4OID ? GATHER_FLOAT4 : GATHER_FLOAT8;
		case CPO_NUMERIC:
			return GATHER_VARLENA;
		case CPO_BYTEA:
			return settings & SETTING_BYTEA ? GATHER_OUTPUT : GATHER_VARLENA;
		case CPO_STRING:
			return type->oid == NAMEOID ? GATHER_NAME : GATHER_STRING;
		case CPO_DATE:
			return settings & SETTING_DATES ? GATHER_OUTPUT : GATHER_INT32;
		case CPO_TIMESTAMP:
			return settings & SETTING_DATES ? GATHER_OUTPUT : GATHER_INT64;
		case CPO_TIMESTAMPTZ:
			if (settings & SETTING_DATES)
				return GATHER_OUTPUT;
			return describer->config->native_values ? GATHER_INT64 : GATHER_TIMESTAMPTZ;
		case CPO_UUID:
			return GATHER_UUID;
		case CPO_ARRAY:
			break;
		default:
			return GATHER_OUTPUT;
	}

	/* An array: in binary if the core can print all of it. */
	if (!describer->config->raw_arrays || type->element == NULL)
		return GATHER_OUTPUT;
	switch (type->element->kind)
	{
		case CPO_STRING:
			/* text that has to be converted, or is not a varlena */
			return GetDatabaseEncoding() == PG_UTF8 && type->element->oid != NAMEOID
					   ? GATHER_ARRAY
					   : GATHER_OUTPUT;
		case CPO_FLOAT:
		case CPO_ARRAY:
			return GATHER_OUTPUT;
		default:
			return gather_kind(describer, type->element) == GATHER_OUTPUT ? GATHER_OUTPUT
																		  : GATHER_ARRAY;
	}
}

static const CpoType *describe_type(const Describer *describer, Oid declared, int depth);

/* The columns of a composite type. */
static void
describe_fields(const Describer *describer, CpoType *type, Oid relid, int32 typmod, int depth)
{
	TupleDesc descriptor = lookup_rowtype_tupdesc(type->oid, typmod);
	CpoField *fields = palloc(sizeof(CpoField) * (descriptor->natts + 1));
	int		  i;

	if (OidIsValid(relid))
		describer->depends(describer->arg, -1, relid);
	for (i = 0; i < descriptor->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(descriptor, i);

		if (attribute->attisdropped)
			continue;
		fields[type->nfields].name = name_span(describer, pstrdup(NameStr(attribute->attname)));
		fields[type->nfields].type = describe_type(describer, attribute->atttypid, depth + 1);
		type->nfields++;
	}
	type->fields = fields;
	ReleaseTupleDesc(descriptor);
}

/* A type with its domains looked through, as deep as the format asks for. */
static const CpoType *
describe_type(const Describer *describer, Oid declared, int depth)
{
	CpoType		*type = palloc0(sizeof(CpoType));
	HeapTuple	 tuple;
	Form_pg_type form;

	for (;;)
	{
		describer->depends(describer->arg, TYPEOID,
						   GetSysCacheHashValue1(TYPEOID, ObjectIdGetDatum(declared)));
		tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(declared));
		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for type %u", declared);
		form = (Form_pg_type) GETSTRUCT(tuple);
		/* the type's name may be printed with its schema */
		if (describer->config->wants & CPO_WANT_TYPE_NAMES)
			depend_on_schema(describer, form->typnamespace);
		if (form->typtype != TYPTYPE_DOMAIN)
			break;
		declared = form->typbasetype;
		ReleaseSysCache(tuple);
	}
	type->oid = declared;
	type->kind = kind_of_type(declared);
	type->length = form->typlen;
	type->align = form->typalign;
	type->delimiter = form->typdelim;
	if ((describer->config->wants & CPO_WANT_TYPE_TREES) && depth < MAX_TYPE_DEPTH)
	{
		if (IsTrueArrayType(form))
		{
			type->kind = CPO_ARRAY;
			type->element = describe_type(describer, form->typelem, depth + 1);
		}
		else if (form->typtype == TYPTYPE_COMPOSITE)
		{
			type->kind = CPO_COMPOSITE;
			describe_fields(describer, type, form->typrelid, -1, depth);
		}
	}
	ReleaseSysCache(tuple);
	return type;
}

/* --- columns -------------------------------------------------------------- */

/* One level of a domain: what it is over, and the typmod that it has there. */
static void
look_through_domain(Oid *type, int32 *typmod)
{
	HeapTuple	 tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(*type));
	Form_pg_type form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", *type);
	form = (Form_pg_type) GETSTRUCT(tuple);
	if (form->typtype == TYPTYPE_DOMAIN)
	{
		*type = form->typbasetype;
		*typmod = form->typtypmod;
	}
	ReleaseSysCache(tuple);
}

static CpoSpan
catalog_name_of(const Describer *describer, Oid type)
{
	HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	CpoSpan	  name;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", type);
	name = name_span(describer, pstrdup(NameStr(((Form_pg_type) GETSTRUCT(tuple))->typname)));
	ReleaseSysCache(tuple);
	return name;
}

/*
 * A type's name with its typmod.  In the native formats it does not depend on
 * search_path, which a walsender and the SQL functions see differently: all but
 * the server's own types are qualified.
 */
static CpoSpan
typmod_name_of(const Describer *describer, Oid type, int32 typmod)
{
	HeapTuple tuple;
	Oid		  schema;

	if (!describer->config->native_values)
		return name_span(describer, format_type_with_typemod(type, typmod));
	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", type);
	schema = ((Form_pg_type) GETSTRUCT(tuple))->typnamespace;
	ReleaseSysCache(tuple);
	depend_on_schema(describer, schema);
	return name_span(
		describer,
		format_type_extended(type, typmod,
							 FORMAT_TYPE_TYPEMOD_GIVEN |
								 (schema == PG_CATALOG_NAMESPACE ? 0 : FORMAT_TYPE_FORCE_QUALIFY)));
}

static void
describe_type_names(const Describer *describer, CpoColumn *column)
{
	unsigned wants = describer->config->wants;
	Oid		 base = column->type_oid;
	int32	 typmod = column->typmod;

	if (wants & CPO_WANT_TYPE_NAMES)
	{
		column->type_name = name_span(describer, format_type_be(base));
		column->typmod_name = typmod_name_of(describer, base, typmod);
	}
	if (wants & CPO_WANT_CATALOG_NAMES)
		column->catalog_name = catalog_name_of(describer, base);
	if (wants & CPO_WANT_DOMAIN_BASE)
	{
		look_through_domain(&base, &typmod);
		column->base_oid = base;
		column->base_typmod_name = name_span(describer, format_type_with_typemod(base, typmod));
		if (wants & CPO_WANT_CATALOG_NAMES)
			column->base_catalog_name = catalog_name_of(describer, base);
	}
}

/* What a default mentions by name: sequences, functions, types, operators ... */
static void
depend_on_default(const Describer *describer, Oid relid, AttrNumber number)
{
	Relation	catalog = table_open(DependRelationId, AccessShareLock);
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&keys[0], Anum_pg_depend_classid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(AttrDefaultRelationId));
	ScanKeyInit(&keys[1], Anum_pg_depend_objid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(GetAttrDefaultOid(relid, number)));
	scan = systable_beginscan(catalog, DependDependerIndexId, true, NULL, lengthof(keys), keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);
		ObjectAddress  mentioned = {form->refclassid, form->refobjid, 0};
		SysCacheId	   cache = get_object_catcache_oid(mentioned.classId);

		if (mentioned.classId == RelationRelationId && mentioned.objectId == relid)
			continue; /* the column itself */
		if (mentioned.classId == RelationRelationId)
			describer->depends(describer->arg, -1, mentioned.objectId);
		else if (mentioned.classId == TypeRelationId &&
				 get_typtype(mentioned.objectId) == TYPTYPE_ENUM)
			describer->depends(describer->arg, ENUMOID, ANY_LABEL);
		if (cache >= 0)
			describer->depends(describer->arg, cache,
							   GetSysCacheHashValue1(cache, ObjectIdGetDatum(mentioned.objectId)));
		depend_on_schema(describer, get_object_namespace(&mentioned));
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

static CpoSpan
default_of(const Describer *describer, Relation relation, AttrNumber number)
{
	TupleConstr *constraints = RelationGetDescr(relation)->constr;
	int			 i;

	for (i = 0; constraints != NULL && i < constraints->num_defval; i++)
	{
		AttrDefault *value = &constraints->defval[i];

		/*
		 * Without the relation, which no default mentions: with it, the server
		 * would lock the table, and so wait for the transaction in progress
		 * that is being decoded, if that one has altered it.
		 */
		if (value->adnum == number && value->adbin != NULL)
			return name_span(describer, TextDatumGetCString(DirectFunctionCall2(
											pg_get_expr, CStringGetTextDatum(value->adbin),
											ObjectIdGetDatum(InvalidOid))));
	}
	return (CpoSpan){NULL, 0};
}

static void
describe_column(const Describer *describer, Relation relation, Form_pg_attribute attribute,
				Bitmapset *identity, Bitmapset *primary_key, CpoColumn *column)
{
	int			member = attribute->attnum - FirstLowInvalidHeapAttributeNumber;
	unsigned	wants = describer->config->wants;
	const char *name = pstrdup(NameStr(attribute->attname));

	column->name = name_span(describer, name);
	if (wants & CPO_WANT_QUOTED_NAMES)
		column->quoted_name = name_span(describer, quote_identifier(name));
	column->position = attribute->attnum;
	column->type_oid = attribute->atttypid;
	column->typmod = attribute->atttypmod;
	column->not_null = attribute->attnotnull;
	column->generated_stored = attribute->attgenerated == ATTRIBUTE_GENERATED_STORED;
	column->generated_virtual = attribute->attgenerated == ATTRIBUTE_GENERATED_VIRTUAL;
	column->in_identity = bms_is_member(member, identity);
	column->in_primary_key = bms_is_member(member, primary_key);
	column->type = describe_type(describer, attribute->atttypid, 0);
	describe_type_names(describer, column);
	if ((wants & CPO_WANT_DEFAULTS) && attribute->atthasdef && attribute->attgenerated == '\0')
	{
		depend_on_default(describer, RelationGetRelid(relation), attribute->attnum);
		column->default_expr = default_of(describer, relation, attribute->attnum);
	}
}

static void
prepare_gather(const Describer *describer, Form_pg_attribute attribute, const CpoColumn *column,
			   MemoryContext context, GatherColumn *gather)
{
	gather->index = attribute->attnum - 1;
	gather->varlena = attribute->attlen == -1;
	gather->kind =
		column->generated_virtual ? GATHER_NOTHING : gather_kind(describer, column->type);
	if (gather->kind == GATHER_OUTPUT)
	{
		Oid	 function;
		bool is_varlena;

		getTypeOutputInfo(attribute->atttypid, &function, &is_varlena);
		fmgr_info_cxt(function, &gather->output, context);
	}
}

/* --- relations ------------------------------------------------------------ */

/*
 * The key columns of an index, as RelationGetIndexAttrBitmap() has them.  That
 * one would open all indexes of the table, which takes longer than everything
 * else here.
 */
static Bitmapset *
index_columns(Oid index)
{
	Bitmapset	 *columns = NULL;
	HeapTuple	  tuple;
	Form_pg_index form;
	int			  i;

	if (!OidIsValid(index))
		return NULL;
	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for index %u", index);
	form = (Form_pg_index) GETSTRUCT(tuple);
	for (i = 0; i < form->indnkeyatts; i++)
		columns =
			bms_add_member(columns, form->indkey.values[i] - FirstLowInvalidHeapAttributeNumber);
	ReleaseSysCache(tuple);
	return columns;
}

/* The partitioned table at the top. */
static void
describe_root(const Describer *describer, CpoRelationInfo *info)
{
	List *ancestors = get_partition_ancestors(info->oid);
	Oid	  root;
	Oid	  schema;

	/* one that is being detached concurrently has none any more */
	if (ancestors == NIL)
		return;
	root = llast_oid(ancestors);
	schema = get_rel_namespace(root);
	info->root_schema = name_span(describer, get_namespace_name(schema));
	info->root_name = name_span(describer, get_rel_name(root));
	/* its name, and that it is one at all, are told by its own relcache entry */
	describer->depends(describer->arg, -1, root);
	depend_on_schema(describer, schema);
}

void
describe_relation(DecodingState *state, Relation relation, MemoryContext context,
				  CpoRelationInfo *info, GatherColumn **columns, DependencyCallback depends,
				  void *arg)
{
	Form_pg_class form = relation->rd_rel;
	TupleDesc	  descriptor = RelationGetDescr(relation);
	Describer	  describer = {.config = state->config,
							   .settings = state->config->native_values ? 0 : session_settings(),
							   .depends = depends,
							   .arg = arg};
	/* a rewrite's temporary table goes by the name of the table itself */
	char *name =
		form->relrewrite ? get_rel_name(form->relrewrite) : pstrdup(NameStr(form->relname));
	char	  *schema = get_namespace_name(form->relnamespace);
	CpoColumn *described = palloc0(sizeof(CpoColumn) * (descriptor->natts + 1));
	Bitmapset *identity = NULL;
	Bitmapset *primary_key = NULL;
	int		   i;

	depend_on_schema(&describer, form->relnamespace);
	info->oid = RelationGetRelid(relation);
	info->schema = name_span(&describer, schema);
	info->name = name_span(&describer, name);
	if (state->config->wants & CPO_WANT_QUOTED_NAMES)
		info->quoted_name = name_span(&describer, quote_qualified_identifier(schema, name));
	if ((state->config->wants & CPO_WANT_PARTITION_ROOT) && form->relispartition)
		describe_root(&describer, info);
	info->replica_identity = form->relreplident;

	if (form->relhasindex)
	{
		/* sets rd_pkindex, too */
		identity = index_columns(RelationGetReplicaIndex(relation));
		primary_key = index_columns(relation->rd_pkindex);
	}
	info->has_primary_key = primary_key != NULL;

	*columns = MemoryContextAllocZero(context, sizeof(GatherColumn) * (descriptor->natts + 1));
	for (i = 0; i < descriptor->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(descriptor, i);
		CpoColumn		 *column = &described[info->ncolumns];

		if (attribute->attisdropped)
			continue;
		describe_column(&describer, relation, attribute, identity, primary_key, column);
		prepare_gather(&describer, attribute, column, context, &(*columns)[info->ncolumns]);
		info->ncolumns++;
	}
	info->columns = described;
}
