/*
 * text.c
 *	  Text from the database's encoding to UTF-8.
 */
#include "text.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"

static const char replacement[] = "\xEF\xBF\xBD";	/* U+FFFD */

static bool
is_ascii_text(CpoSpan text)
{
	size_t		i;

	for (i = 0; i < text.len; i++)
	{
		if (IS_HIGHBIT_SET(text.data[i]))
			return false;
	}
	return true;
}

/*
 * The conversion function, or InvalidOid.  Looked up each time: it is a lookup
 * in the syscache, needed for text that is not ASCII in databases that are not
 * UTF-8.
 */
static Oid
conversion_to_utf8(void)
{
	return IsTransactionState() ?
		FindDefaultConversionProc(GetDatabaseEncoding(), PG_UTF8) : InvalidOid;
}

CpoSpan
text_to_utf8(CpoSpan text)
{
	int			encoding = GetDatabaseEncoding();
	StringInfoData out;
	const char *at = text.data;
	size_t		left = text.len;
	Oid			conversion;
	unsigned char piece[512 * MAX_CONVERSION_GROWTH + 1];

	if (text.data == NULL || encoding == PG_UTF8 || encoding == PG_SQL_ASCII ||
		is_ascii_text(text))
		return text;
	conversion = conversion_to_utf8();
	if (!OidIsValid(conversion))
		return text;

	initStringInfo(&out);
	while (left > 0)
	{
		int			wanted = (int) Min(left, 512);
		int			done;

		/* don't cut a character */
		if ((size_t) wanted < left)
			wanted = pg_encoding_mbcliplen(encoding, at, (int) Min(left, 1024), wanted);
		done = wanted == 0 ? 0 :
			pg_do_encoding_conversion_buf(conversion, encoding, PG_UTF8,
										  (unsigned char *) at, wanted,
										  piece, sizeof(piece), true);
		if (done > 0)
			appendStringInfoString(&out, (char *) piece);
		else
		{
			/* the character at hand can't be converted */
			appendStringInfoString(&out, replacement);
			done = (int) Min((size_t) Max(pg_encoding_mblen(encoding, at), 1), left);
		}
		at += done;
		left -= done;
	}
	return (CpoSpan) {out.data, out.len};
}

bool
text_is_valid(const char *data, size_t len)
{
	int			encoding = GetDatabaseEncoding();

	return pg_verify_mbstr(encoding == PG_SQL_ASCII ? PG_UTF8 : encoding,
						   data, (int) len, true);
}
