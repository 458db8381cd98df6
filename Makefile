# make                    builds cpp_output.so and checks what was built
# make install            installs it into the server that PG_CONFIG belongs to
# make installcheck       runs sql/ and t/ against that server
# make unit               builds and runs test/unit
# make unit SANITIZE=1    the same under ASan and UBSan
# make unit VALGRIND=1    the same under valgrind
# make fuzz               builds the fuzzers of test/fuzz with clang
#
# PG_CONFIG=...  which server (default: the first pg_config in PATH)
# WERROR=1       warnings are errors
# UBSAN=1        the library itself under UBSan, with the server headers' assertions
# CC, CXX        gcc and g++, or clang and clang++

MODULE_big = cpp_output
EXTENSION = cpp_output
DATA = $(wildcard cpp_output--*.sql)

SHELL_OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/shell/*.c)))
CORE_SOURCES = $(sort $(wildcard src/core/*.cc src/core/*/*.cc))
CORE_OBJS = $(CORE_SOURCES:.cc=.o)
OBJS = $(SHELL_OBJS) $(CORE_OBJS)

REGRESS = $(patsubst sql/%.sql,%,$(sort $(wildcard sql/*.sql)))
TAP_TESTS = 1
# The database that the tests make does not go by the server's locale. Without
# NO_LOCALE a locale of another encoding would refuse UTF8.
ENCODING = UTF8
NO_LOCALE = 1

# --- compression: whatever is there ----------------------------------------

PKG_CONFIG ?= pkg-config
COMPRESSION := $(shell $(PKG_CONFIG) --exists liblz4 2>/dev/null && echo lz4) \
	$(shell $(PKG_CONFIG) --exists libzstd 2>/dev/null && echo zstd)
ifneq ($(filter lz4,$(COMPRESSION)),)
COMPRESSION_FLAGS += -DCPO_WITH_LZ4 $(shell $(PKG_CONFIG) --cflags liblz4)
COMPRESSION_LIBS += $(shell $(PKG_CONFIG) --libs liblz4)
endif
ifneq ($(filter zstd,$(COMPRESSION)),)
COMPRESSION_FLAGS += -DCPO_WITH_ZSTD $(shell $(PKG_CONFIG) --cflags libzstd)
COMPRESSION_LIBS += $(shell $(PKG_CONFIG) --libs libzstd)
endif

# --- flags ------------------------------------------------------------------

# the flags that come from pg_config are gcc's
CLANG_QUIET = $(if $(findstring clang,$(CC)$(CXX)),-Wno-unknown-warning-option \
	-Wno-ignored-optimization-argument -Wno-ignored-attributes)
WARNINGS = -Wall -Wextra $(if $(WERROR),-Werror) $(CLANG_QUIET)
# the server's headers have unused parameters and compare signs
WARNINGS_C = $(WARNINGS) -Werror=implicit-function-declaration -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers
DEPENDENCIES = -MMD -MP
UBSAN_FLAGS = $(if $(UBSAN),-fsanitize=undefined -fno-sanitize-recover=undefined)

# PostgreSQL 15 leaves PGDLLEXPORT empty
PG_CPPFLAGS = -Isrc/core $(COMPRESSION_FLAGS) \
	$(if $(filter 15,$(MAJORVERSION)),-DPGDLLEXPORT='__attribute__((visibility("default")))')
PG_CFLAGS = -fvisibility=hidden $(WARNINGS_C) $(DEPENDENCIES) $(UBSAN_FLAGS) \
	$(if $(UBSAN),-DUSE_ASSERT_CHECKING)
# The version script hides the std:: templates too, which -fvisibility does not.
SHLIB_LINK = $(COMPRESSION_LIBS) -Wl,--version-script=tools/exports.map $(UBSAN_FLAGS)

# No server header is in the core's include path, and none gets there.
CORE_FLAGS = -std=gnu++20 -O2 -Isrc/core $(WARNINGS) $(DEPENDENCIES) $(COMPRESSION_FLAGS)
# Boost's assertions are for the tests: here they would call abort().
CORE_CXXFLAGS = $(CORE_FLAGS) -DBOOST_DISABLE_ASSERTS -fvisibility=hidden -fvisibility-inlines-hidden $(UBSAN_FLAGS)

EXTRA_CLEAN = build $(OBJS:.o=.d)

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
override with_llvm := no
# g++ links: the server hides a libstdc++ that is missing in NEEDED
override COMPILER = $(CXX) $(CXXFLAGS)
include $(PGXS)

$(CORE_OBJS): %.o: %.cc
	$(CXX) $(CXXFLAGS) $(CORE_CXXFLAGS) -c -o $@ $<

-include $(OBJS:.o=.d)

# --- checks of what was built -------------------------------------------------

CHECKS = $(wildcard tools/check-*.sh)

all: build/checked

build/checked: $(shlib) $(CHECKS) tools/exports.map
	@mkdir -p build
	tools/check-layers.sh
	tools/check-core.sh '$(bindir)/postgres' $(CORE_OBJS)
	tools/check-library.sh $(shlib)
	@touch $@

# --- a type that misbehaves, for the TAP tests ------------------------------

build/fault_type.so: test/fault_type/fault_type.c
	@mkdir -p build
	$(CC) $(CPPFLAGS) $(CFLAGS) -fvisibility=default $(CFLAGS_SL) -shared -o $@ $<

# --- the core's own tests ---------------------------------------------------

ifdef SANITIZE
UNIT_DIR = build/unit-sanitize
UNIT_SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
else
UNIT_DIR = build/unit
endif
ifdef VALGRIND
# each step is slow, so the loops over many cases take an eleventh of them
UNIT_UNDER = CPO_UNIT_STRIDE=11 valgrind -q --error-exitcode=1 --leak-check=full \
	--show-leak-kinds=definite,indirect --errors-for-leak-kinds=definite,indirect
# valgrind's operator new takes the place of the one that counts in this test
UNIT_WITHOUT = --gtest_filter='-reorder_allocation.*'
endif
UNIT_OBJS = $(patsubst %.cc,$(UNIT_DIR)/%.o,$(CORE_SOURCES) $(sort $(wildcard test/unit/*.cc)))
UNIT_CXXFLAGS = $(CORE_FLAGS) -O1 -g $(UNIT_SANITIZE) -Itest/unit

.PHONY: unit fuzz
unit: $(UNIT_DIR)/unit
	$(UNIT_UNDER) $< $(UNIT_WITHOUT) $(UNIT_ARGS)

$(UNIT_DIR)/unit: $(UNIT_OBJS)
	$(CXX) $(UNIT_SANITIZE) -o $@ $^ -lgtest -lgtest_main -pthread $(COMPRESSION_LIBS)

$(UNIT_DIR)/%.o: %.cc
	@mkdir -p $(@D)
	$(CXX) $(UNIT_CXXFLAGS) -c -o $@ $<

FUZZERS = $(patsubst test/fuzz/%.cc,build/fuzz/%,$(sort $(wildcard test/fuzz/*_fuzz.cc)))
FUZZ_CXX ?= clang++
FUZZ_FLAGS = $(CORE_FLAGS) -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -Itest/unit
FUZZ_CORE_OBJS = $(patsubst %.cc,build/fuzz/%.o,$(CORE_SOURCES))
FUZZ_OBJS = $(FUZZ_CORE_OBJS) $(patsubst %.cc,build/fuzz/%.o,$(sort $(wildcard test/fuzz/*.cc)))

fuzz: $(FUZZERS)

$(FUZZERS): build/fuzz/%: build/fuzz/test/fuzz/%.o $(FUZZ_CORE_OBJS)
	$(FUZZ_CXX) -fsanitize=fuzzer,address,undefined -o $@ $^ $(COMPRESSION_LIBS)

build/fuzz/%.o: %.cc
	@mkdir -p $(@D)
	$(FUZZ_CXX) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -c -o $@ $<

-include $(UNIT_OBJS:.o=.d) $(FUZZ_OBJS:.o=.d)
