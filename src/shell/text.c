/*
 * text.c
 *	  Text from the database's encoding to UTF-8 and back.
 */
#include "text.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"

/* Bytes that are converted in one step. */
#define PIECE 512

static bool
is_ascii_text(CpoSpan text)
{
	size_t i;

	for (i = 0; i < text.len; i++)
	{
		if (IS_HIGHBIT_SET(text.data[i]))
			return false;
	}
	return true;
}

static bool
needs_conversion(CpoSpan text)
{
	int encoding = GetDatabaseEncoding();

	return text.data != NULL && encoding != PG_UTF8 && encoding != PG_SQL_ASCII &&
		   !is_ascii_text(text);
}

static void
append_converted(StringInfo out, CpoSpan text, Oid conversion, int from, int to,
				 const char *replacement)
{
	const char	 *at = text.data;
	size_t		  left = text.len;
	unsigned char piece[PIECE * MAX_CONVERSION_GROWTH + 1];

	while (left > 0)
	{
		int wanted = (int) Min(left, PIECE);
		int done;

		/* don't cut a character */
		if ((size_t) wanted < left)
			wanted = pg_encoding_mbcliplen(from, at, (int) Min(left, 2 * PIECE), wanted);
		done = wanted == 0
				   ? 0
				   : pg_do_encoding_conversion_buf(conversion, from, to, (unsigned char *) at,
												   wanted, piece, sizeof(piece), true);
		if (done > 0)
			appendStringInfoString(out, (char *) piece);
		else
		{
			/* the character at hand can't be converted */
			appendStringInfoString(out, replacement);
			done = (int) Min((size_t) Max(pg_encoding_mblen(from, at), 1), left);
		}
		at += done;
		left -= done;
	}
}

/*
 * What is not valid or has no counterpart becomes `replacement`.  The
 * conversion function is looked up each time: that is a lookup in the syscache,
 * for text that is not ASCII in databases that are not UTF-8.  It needs a
 * transaction, which a walsender has not while it reads options or sends what
 * belongs to no transaction.
 */
static CpoSpan
convert(CpoSpan text, int from, int to, const char *replacement)
{
	MemoryContext  context = CurrentMemoryContext;
	bool		   own_transaction = !IsTransactionState();
	StringInfoData out;
	Oid			   conversion;

	initStringInfo(&out);
	if (own_transaction)
		StartTransactionCommand();
	conversion = FindDefaultConversionProc(from, to);
	if (OidIsValid(conversion))
		append_converted(&out, text, conversion, from, to, replacement);
	if (own_transaction)
		CommitTransactionCommand();
	MemoryContextSwitchTo(context);
	return OidIsValid(conversion) ? (CpoSpan){out.data, out.len} : text;
}

CpoSpan
text_to_utf8(CpoSpan text)
{
	return needs_conversion(text) ? convert(text, GetDatabaseEncoding(), PG_UTF8, "\xEF\xBF\xBD")
								  : text;
}

const char *
text_from_utf8(const char *text)
{
	CpoSpan span = {text, strlen(text)};

	return needs_conversion(span) ? convert(span, PG_UTF8, GetDatabaseEncoding(), "?").data : text;
}

bool
text_is_valid(const char *data, size_t len)
{
	int encoding = GetDatabaseEncoding();

	return pg_verify_mbstr(encoding == PG_SQL_ASCII ? PG_UTF8 : encoding, data, (int) len, true);
}
