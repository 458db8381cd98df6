/*
 * row.c
 *	  From a tuple to the plain values that the core formats.
 */
#include "relation.h"

#include "access/detoast.h"
#include "common/shortest_dec.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "output_settings.h"
#include "text.h"

/* What the error context says while an output function runs. */
typedef struct RowContext
{
	Relation relation;
	int		 index;
} RowContext;

static void
row_error_context(void *arg)
{
	RowContext *row = arg;
	TupleDesc	descriptor = RelationGetDescr(row->relation);

	errcontext("column \"%s\" of table \"%s\"",
			   NameStr(TupleDescAttr(descriptor, row->index)->attname),
			   RelationGetRelationName(row->relation));
}

/*
 * A varlena that is neither compressed nor external.  Values that the server
 * put together from TOAST chunks come as indirect pointers: following these
 * avoids a copy.
 */
static struct varlena *
plain_varlena(Datum datum)
{
	struct varlena *value = (struct varlena *) DatumGetPointer(datum);

	while (VARATT_IS_EXTERNAL_INDIRECT(value))
	{
		struct varatt_indirect redirect;

		VARATT_EXTERNAL_GET_POINTER(redirect, value);
		value = redirect.pointer;
	}
	return VARATT_IS_EXTENDED(value) && !VARATT_IS_SHORT(value) ? detoast_attr(value) : value;
}

static void
set_text(DecodingState *state, CpoValue *value, CpoForm form, const char *data, size_t len)
{
	CpoSpan text = {data, len};

	if (state->config->utf8_text)
		text = text_to_utf8(text);
	value->data = text.data;
	value->len = (uint32) text.len;
	value->form = form;
}

static void
set_float(CpoValue *value, double number, bool single)
{
	char *text = palloc(DOUBLE_SHORTEST_DECIMAL_LEN);

	value->len = single ? float_to_shortest_decimal_buf((float) number, text)
						: double_to_shortest_decimal_buf(number, text);
	value->data = text;
	value->form = CPO_TEXT;
}

static void
set_output(DecodingState *state, GatherColumn *column, Datum datum, CpoValue *value)
{
	char *text;

	if (column->varlena)
		datum = PointerGetDatum(plain_varlena(datum));
	text = OutputFunctionCall(&column->output, datum);
	set_text(state, value, CPO_TEXT, text, strlen(text));
}

static void
set_value(DecodingState *state, GatherColumn *column, Datum datum, CpoValue *value)
{
	struct varlena *bytes;

	value->form = CPO_RAW;
	switch (column->kind)
	{
		case GATHER_NOTHING:
			value->form = CPO_NULL;
			break;
		case GATHER_BOOL:
			value->integer = DatumGetBool(datum) ? 1 : 0;
			break;
		case GATHER_INT16:
			value->integer = DatumGetInt16(datum);
			break;
		case GATHER_INT32:
			value->integer = DatumGetInt32(datum);
			break;
		case GATHER_INT64:
			value->integer = DatumGetInt64(datum);
			break;
		case GATHER_UINT32:
			value->integer = DatumGetUInt32(datum);
			break;
		case GATHER_FLOAT4:
			set_float(value, DatumGetFloat4(datum), true);
			break;
		case GATHER_FLOAT8:
			set_float(value, DatumGetFloat8(datum), false);
			break;
		case GATHER_NAME:
			set_text(state, value, CPO_RAW, NameStr(*DatumGetName(datum)),
					 strlen(NameStr(*DatumGetName(datum))));
			break;
		case GATHER_UUID:
			value->data = (const char *) DatumGetUUIDP(datum)->data;
			value->len = UUID_LEN;
			break;
		case GATHER_TIMESTAMPTZ:
			value->integer = DatumGetTimestampTz(datum);
			value->len = (uint32) session_utc_offset(value->integer);
			break;
		case GATHER_VARLENA:
			bytes = plain_varlena(datum);
			value->data = VARDATA_ANY(bytes);
			value->len = VARSIZE_ANY_EXHDR(bytes);
			break;
		case GATHER_STRING:
			bytes = plain_varlena(datum);
			set_text(state, value, CPO_RAW, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
			break;
		case GATHER_ARRAY:
			bytes = plain_varlena(datum);
			if (VARATT_IS_SHORT(bytes))
				bytes = detoast_attr(bytes);
			value->data = (const char *) bytes;
			value->len = VARSIZE(bytes);
			break;
		case GATHER_OUTPUT:
			set_output(state, column, datum, value);
			break;
	}
}

void
gather_row(DecodingState *state, RelationPlan *plan, Relation relation, HeapTuple tuple,
		   CpoValue *values)
{
	RowContext			 row = {relation, 0};
	ErrorContextCallback callback = {error_context_stack, row_error_context, &row};
	bool				 native = plan->any_output && state->config->native_values;
	int					 i;

	heap_deform_tuple(tuple, RelationGetDescr(relation), plan->datums, plan->nulls);
	error_context_stack = &callback;
	if (native)
		native_settings_begin();
	for (i = 0; i < plan->ncolumns; i++)
	{
		GatherColumn *column = &plan->columns[i];
		Datum		  datum = plan->datums[column->index];

		if (plan->nulls[column->index])
			values[i].form = CPO_NULL;
		else if (column->varlena && VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(datum)))
			values[i].form = CPO_UNCHANGED;
		else
		{
			row.index = column->index;
			set_value(state, column, datum, &values[i]);
		}
	}
	if (native)
		native_settings_end();
	error_context_stack = callback.previous;
}
