package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFailuresAreRepeated(t *testing.T) {
	t.Parallel()
	const pkg = `"Package":"github.com/firstlight/firstlight/internal/a","Test":"TestTwo/sub"`
	r, _ := recorded(t, `{"Action":"run",`+pkg+`}
{"Action":"output",`+pkg+`,"Output":"    y_test.go:7: hop bound is failed:\n"}
{"Action":"output",`+pkg+`,"Output":"        the second line\n"}
{"Action":"output",`+pkg+`,"Output":"time=2026-01-01T00:00:00Z level=INFO msg=\"component ready\"\n"}
{"Action":"output",`+pkg+`,"Output":"a line of a program\n"}
{"Action":"output",`+pkg+`,"Output":"--- FAIL: TestTwo/sub (1.00s)\n"}
{"Action":"fail",`+pkg+`,"Elapsed":1}
{"Action":"fail","Package":"github.com/firstlight/firstlight/internal/a","Test":"TestTwo","Elapsed":1}
`)
	want := []string{"  internal/a TestTwo/sub", "    y_test.go:7: hop bound is failed:", "        the second line"}
	if diff := cmp.Diff(want, r.failures); diff != "" {
		t.Error(diff)
	}
}

// A test that reports much keeps its first reports and its last.
func TestFailuresAreBounded(t *testing.T) {
	t.Parallel()
	const pkg = `"Package":"github.com/firstlight/firstlight/internal/a","Test":"TestTwo"`
	var lines strings.Builder
	for i := range 50 {
		fmt.Fprintf(&lines, `{"Action":"output",%s,"Output":"    y_test.go:%d: report\n"}`+"\n", pkg, i)
	}
	r, _ := recorded(t, lines.String()+`{"Action":"fail",`+pkg+`}`+"\n")
	if n := len(r.failures); n != 1+maxFailureLines {
		t.Fatalf("%d lines: %v", n, r.failures)
	}
	if first, last := r.failures[1], r.failures[maxFailureLines]; first != "    y_test.go:0: report" || last != "    y_test.go:49: report" {
		t.Errorf("first %q, last %q", first, last)
	}
}

// A test that its package's timeout ended has no event of its own.
func TestUnfinishedTestsAreRepeated(t *testing.T) {
	t.Parallel()
	const pkg = `"Package":"github.com/firstlight/firstlight/internal/a"`
	r, _ := recorded(t, `{"Action":"run",`+pkg+`,"Test":"TestHangs"}
{"Action":"output",`+pkg+`,"Test":"TestHangs","Output":"    y_test.go:7: waiting\n"}
{"Action":"output",`+pkg+`,"Test":"TestHangs","Output":"panic: test timed out after 30m0s\n"}
{"Action":"fail",`+pkg+`}
`)
	want := []string{"  internal/a TestHangs", "    y_test.go:7: waiting", "panic: test timed out after 30m0s"}
	if diff := cmp.Diff(want, r.failures); diff != "" {
		t.Error(diff)
	}
}
