package gangjob

import "testing"

// A followed log counts where it ends as the kubelet's does.
func TestWhole(t *testing.T) {
	t.Parallel()
	const log = "begin\none\ntwo\nend\n"
	for name, tt := range map[string]struct{ followed, end, want string }{
		"not rotated":               {log, log, log},
		"rotated":                   {log, "two\nend\n", log},
		"rotated, and broken off":   {"begin\none\n", "two\nend\n", "two\nend\n"},
		"broken off, not rotated":   {"begin\none\n", log, log},
		"nothing followed":          {"", "two\nend\n", "two\nend\n"},
		"followed after a rotation": {"end\n", "two\nend\n", "two\nend\n"},
		"another attempt":           {"begin\nfailed\n", log, log},
		"an empty end shows no end": {"begin\none\n", "", ""},
	} {
		if got := string(whole([]byte(tt.followed), []byte(tt.end))); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
