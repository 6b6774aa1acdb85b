package host

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/world"
)

// The captured output of the real tools and ours have the same shape; a moved column in either
// fails.
func TestOutputShapeMatchesRealTools(t *testing.T) {
	t.Parallel()
	const far = ` {2}[ \d]{6} [ \d]{4}\[  \] "[^"]+" \((Could be \d+X)? (Could be [\d.]+ Gbps)?\)$`
	const lids = `[ \d]{6} [ \d]{4}\[  \] ==\(`
	const up = `[ \d]{2}X [ \d.]{13} Gbps (Active|Initialize)/  LinkUp\)==>`
	const down = ` {14}  Down/ Polling\)==> {13}\[  \] "" \( \)$`
	iblinkinfo := `^(CA: .+:|Switch: 0x[0-9a-f]{16} \S+:|      0x[0-9a-f]{16} ` + lids + up + far + `|      ` + lids + `(` + up + far + `|` + down + `))`
	line := `^0x[0-9a-f]{16} " *[^"]{1,30}" ` + lids + `(` + up + `  0x[0-9a-f]{16} ` + strings.TrimPrefix(far, ` {2}`) + `|` + down + `)`
	const counters = `( \[[A-Za-z]+ == \d+\])+$`
	ibqueryerrors := `^(Errors for "[^"]+"|Errors for 0x[0-9a-f]+ "[^"]+"|   GUID 0x[0-9a-f]+ port (ALL|\d+):` + counters +
		`||## Summary: \d+ nodes checked, \d+ bad nodes found|##          \d+ ports checked, \d+ ports have errors beyond threshold|## Thresholds: |## Suppressed:)$`
	sminfo := `^sminfo: (sm lid \d+ sm guid 0x[0-9a-f]+, activity count \d+ priority \d+ state \d SMINFO_[A-Z]+|iberror: failed: query)$`
	for name, tt := range map[string]struct {
		shape, command string
		files          []string
		fault          string
	}{
		"iblinkinfo":                {iblinkinfo, "iblinkinfo", []string{"iblinkinfo/healthy-sdr", "iblinkinfo/link-down", "iblinkinfo/initializing", "iblinkinfo/qdr-one-narrow-one-slow"}, ""},
		"iblinkinfo -l":             {line, "iblinkinfo -l", []string{"iblinkinfo/line-mode"}, ""},
		"iblinkinfo -l, degraded":   {line, "iblinkinfo -l", nil, "link-degraded"},
		"iblinkinfo, degraded":      {iblinkinfo, "iblinkinfo", nil, "link-degraded"},
		"iblinkinfo, link down":     {iblinkinfo, "iblinkinfo", nil, "link-down"},
		"iblinkinfo, switches only": {iblinkinfo, "iblinkinfo --switches-only", []string{"iblinkinfo/switches-only"}, ""},
		"ibqueryerrors":             {ibqueryerrors, "ibqueryerrors", []string{"ibqueryerrors/clean", "ibqueryerrors/errors", "ibqueryerrors/link-down"}, ""},
		"ibqueryerrors, flapping":   {ibqueryerrors, "ibqueryerrors", nil, "link-flapping"},
		"sminfo":                    {sminfo, "sminfo", []string{"sminfo/master", "sminfo/no-sm", "sminfo/standby"}, ""},
		"sminfo, dead":              {sminfo, "sminfo", nil, "sm-dead"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			re := regexp.MustCompile(tt.shape)
			var faults []world.Fault
			if tt.fault != "" {
				faults = append(faults, world.Fault{Kind: tt.fault})
			}
			ours, _, _ := run(t, state(t, 4, faults...), "gpu-01", tt.command)
			matchLines(t, re, "ours", ours)
			for _, f := range tt.files {
				captured, err := os.ReadFile(filepath.Join("..", "..", "probe", "testdata", "real", f+".txt"))
				if err != nil {
					t.Fatal(err)
				}
				matchLines(t, re, f, string(captured))
			}
		})
	}
}

func matchLines(t *testing.T, re *regexp.Regexp, what, text string) {
	t.Helper()
	if text == "" {
		t.Fatalf("%s: empty", what)
	}
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if !re.MatchString(line) {
			t.Errorf("%s:%d has another shape: %q", what, i+1, line)
			return
		}
	}
}

func TestIbstatLabels(t *testing.T) {
	t.Parallel()
	captured, err := os.ReadFile(filepath.Join("..", "..", "probe", "testdata", "real", "ibstat", "ibsim.txt"))
	if err != nil {
		t.Fatal(err)
	}
	ours, _, _ := run(t, state(t, 4), "gpu-01", "ibstat mlx5_0")
	label := func(text string) string {
		var b strings.Builder
		for line := range strings.SplitSeq(text, "\n") {
			name, _, _ := strings.Cut(line, ": ")
			b.WriteString(name + "\n")
		}
		return strings.Replace(b.String(), "CA 'ibsim0'", "CA 'mlx5_0'", 1)
	}
	if label(string(captured)) != label(ours) {
		t.Errorf("labels differ:\n%s\n%s", label(string(captured)), label(ours))
	}
}

func TestUnknownCommandsAndHosts(t *testing.T) {
	t.Parallel()
	s := state(t, 2)
	for command, want := range map[string]int{"rm -rf /": 127, "dcgmi diag -r 9": 198, "sudo -n uname -n": 0, "env LC_ALL=C hostname": 0, "timeout 5 ibstat": 0, "grep root /etc/passwd": 2,
		"ibv_devinfo -d mlx5_9": 255, "ibv_devinfo -l": 0, pkeysOf("mlx5_9"): 2, pkeysOf("mlx5_0") + " /sys/class/infiniband/mlx5_0/ports": 2, "grep -r x /": 2,
		"grep -rHvx 0xffff /sys/class/infiniband/mlx5_0/ports/1/pkeys": 0} {
		if _, _, exit := run(t, s, "gpu-01", command); exit != want {
			t.Errorf("%s: exit %d, want %d", command, exit, want)
		}
	}
	if _, errOut, exit := run(t, s, "gpu-99", "uname"); exit != 255 || errOut == "" {
		t.Errorf("unknown host: exit %d, %q", exit, errOut)
	}
	for _, command := range []string{"nvidia-smi -q -x", "dcgmi diag -r 1 -j"} {
		if _, _, exit := run(t, s, "system-01", command); exit != 127 {
			t.Errorf("%s on a node without GPUs: exit %d", command, exit)
		}
	}
}
