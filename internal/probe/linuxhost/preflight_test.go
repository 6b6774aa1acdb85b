package linuxhost_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/probe/linuxhost"
)

func TestParseClock(t *testing.T) {
	t.Parallel()
	if got, err := linuxhost.ParseClock([]byte("1763726400.012345678\n")); err != nil || !got.Equal(time.Date(2025, 11, 21, 12, 0, 0, 12345678, time.UTC)) {
		t.Errorf("%s, %v", got, err)
	}
	for _, in := range []string{"", "1763726400.%N\n", "Fri Nov 21 12:00:00 UTC 2025\n"} {
		if got, err := linuxhost.ParseClock([]byte(in)); err == nil {
			t.Errorf("%q is %s", in, got)
		}
	}
}

// The messages are those of ls of GNU coreutils.
func TestParseModules(t *testing.T) {
	t.Parallel()
	if got := linuxhost.ModulesCommand([]string{"nvidia", "ib_umad"}); !slices.Equal(got, []string{"ls", "-d", "/sys/module/nvidia", "/sys/module/ib_umad"}) {
		t.Errorf("%q", got)
	}
	for name, tt := range map[string]struct {
		out, errOut string
		want        []string
		err         string
	}{
		"all":           {"/sys/module/ib_umad\n/sys/module/nvidia\n", "", []string{"ib_umad", "nvidia"}, ""},
		"one":           {"/sys/module/nvidia\n", "ls: cannot access '/sys/module/ib_umad': No such file or directory\n", []string{"nvidia"}, ""},
		"none":          {"", "ls: cannot access '/sys/module/ib_umad': No such file or directory\n", []string{}, ""},
		"no ls":         {"", "bash: ls: command not found\n", nil, "names no directory"},
		"another shell": {"Welcome\n", "", nil, "names no directory"},
	} {
		got, err := linuxhost.ParseModules([]byte(tt.out), []byte(tt.errOut))
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
