package guard_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

func TestParse(t *testing.T) {
	t.Parallel()
	if v, err := guard.Parse("text", func() (int, error) { return 3, nil }); v != 3 || err != nil {
		t.Errorf("an answer: %d, %v", v, err)
	}
	refused := errors.New("refused")
	if _, err := guard.Parse("text", func() (int, error) { return 3, refused }); !errors.Is(err, refused) {
		t.Errorf("an error: %v", err)
	}
	v, err := guard.Parse("metrics", func() (map[string]int, error) {
		list := make([]int, len(refused.Error())/100)
		return map[string]int{"a": list[len("ab")]}, nil
	})
	if v != nil || !errors.Is(err, guard.ErrPanic) || !strings.Contains(err.Error(), "read metrics") || !strings.Contains(err.Error(), "index out of range") {
		t.Errorf("a panic: %v, %v", v, err)
	}
}
