package component

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/golden"
)

func TestGoldensOfAStore(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, c := range All(configFor(Store)) {
		all.WriteString("== " + c.Name + "\n" + text(c))
	}
	golden.Compare(t, "testdata/store.golden", all.String())
}

// A store survives a power failure and has roles; a lab for scheduling has neither.
func TestStoreIsDurable(t *testing.T) {
	t.Parallel()
	for purpose, want := range map[Purpose]bool{Store: true, Scheduling: false} {
		all := All(configFor(purpose))
		if got := !slices.Contains(all[0].Argv, "--unsafe-no-fsync"); got != want {
			t.Errorf("%s: etcd syncs: %t, want %t", purpose, got, want)
		}
		if got := slices.Contains(all[1].Argv, "--authorization-mode=Node,RBAC"); got != want {
			t.Errorf("%s: roles: %t, want %t", purpose, got, want)
		}
	}
}
