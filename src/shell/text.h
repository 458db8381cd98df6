/*
 * text.h
 *	  Text from the database's encoding to UTF-8 and back.
 */
#ifndef CPO_TEXT_H
#define CPO_TEXT_H

#include "postgres.h"

#include "core.h"

/*
 * The text in UTF-8, in the current memory context where it had to be
 * converted.  A character that UTF-8 lacks, or an invalid byte, becomes
 * U+FFFD; text of an SQL_ASCII database is left as it is, for the core to
 * check.
 */
extern CpoSpan text_to_utf8(CpoSpan text);

/* The other way round, for what the server reports; ? where there is none. */
extern const char *text_from_utf8(const char *text);

/* Is it text at all, in the database's encoding (UTF-8 for SQL_ASCII)? */
extern bool text_is_valid(const char *data, size_t len);

#endif /* CPO_TEXT_H */
