package check_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

func TestJoinNames(t *testing.T) {
	t.Parallel()
	for want, names := range map[string][]string{
		"": nil, "a": {"a"}, "a, b": {"a", "b"}, "a, b and 1 more": {"a", "b", "c"}, "a, b and 2 more": {"a", "b", "c", "d"},
	} {
		if got := check.JoinNames(names, 2); got != want {
			t.Errorf("%v: %q, want %q", names, got, want)
		}
	}
}
