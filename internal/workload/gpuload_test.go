package workload_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/workload"
)

// A driver of CUDA 12 got dcgmproftester13, which ends with "Wrong version of dcgmproftester is
// used": below driver 580 no load ran.
func TestGPULoadFollowsTheDriver(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		smi      string
		programs []string
		want     string
		fails    bool
	}{
		"CUDA 12":              {"Driver Version : 550.54.15\nCUDA Version                              : 12.4", []string{"12", "13"}, "dcgmproftester12 --no-dcgm-validation -t 1004 -d 60", false},
		"CUDA 13":              {"CUDA Version : 13.0", []string{"12", "13"}, "dcgmproftester13 --no-dcgm-validation -t 1004 -d 60", false},
		"CUDA 13, renamed":     {"CUDA UMD Version : 13.1", []string{"13"}, "dcgmproftester13 --no-dcgm-validation -t 1004 -d 60", false},
		"not in the image":     {"CUDA Version : 12.4", []string{"11", "13"}, "no dcgmproftester12 for the driver's CUDA 12, only: dcgmproftester11 dcgmproftester13", true},
		"no version":           {"Driver Version : 550.54.15", []string{"12"}, "printed no CUDA version", true},
		"version not in a row": {"   CUDA Version : 12.4", []string{"12"}, "printed no CUDA version", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := runLoad(t, tt.smi, tt.programs)
			if (err != nil) != tt.fails || !strings.Contains(out, tt.want) {
				t.Errorf("%v, %q, want %q", err, out, tt.want)
			}
		})
	}
}

// runLoad runs the script with programs that print their name and arguments.
func runLoad(t *testing.T, smi string, majors []string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"nvidia-smi": "#!/bin/bash\ncat <<'E'\n" + smi + "\nE\n"}
	for _, major := range majors {
		files["dcgmproftester"+major] = "#!/bin/bash\necho \"${0##*/} $*\"\n"
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "/bin/bash", "-ec", workload.GPULoadScript)
	cmd.Env = []string{"PATH=" + dir + ":/usr/bin:/bin", "DURATION=60"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Real outputs of nvidia-smi -q have the line that the script reads.
func TestGPULoadReadsRealNvidiaSMI(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("FIRSTLIGHT_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	files, err := filepath.Glob(filepath.Join(dir, "trouble", "*nvidia-smi-query*valid*"))
	if err != nil || len(files) == 0 {
		t.Skipf("skipped: no outputs of nvidia-smi -q at %s: set FIRSTLIGHT_CORPUS to the corpus", dir)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := runLoad(t, string(text), []string{"12"}); err != nil || !strings.HasPrefix(out, "dcgmproftester12 ") {
			t.Errorf("%s: %v: %s", file, err, out)
		}
	}
}
