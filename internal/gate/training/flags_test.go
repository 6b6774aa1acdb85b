package training

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/probe/trainer"
)

// program is what a release of a program understands, and where that was read.
type programFlags struct {
	Versions string
	Sources  []string
	Flags    []string
	Models   []string
}

type flagFixtures struct {
	Torchrun, Megatron programFlags
	Torchtitan         map[string]programFlags
}

func fixtures(t *testing.T) flagFixtures {
	t.Helper()
	data, err := os.ReadFile("testdata/flags.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var f flagFixtures
	if err := yaml.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// runScript runs a script in a directory with a torchrun that prints its arguments, one a line.
func runScript(t *testing.T, script string, env ...string) (arguments []string, message string, err error) {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "torchrun"), []byte("#!/bin/bash\nprintf '%s\\n' \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/bin/bash", "-ec", script)
	cmd.Env = append([]string{
		"PATH=" + bin + ":/usr/bin:/bin", "NNODES=4", "GPUS_PER_NODE=8", "JOB_COMPLETION_INDEX=2", "JOB_NAME=training", "STEPS=60",
	}, env...)
	out, err := cmd.CombinedOutput()
	return strings.Split(strings.TrimSpace(string(out)), "\n"), string(out), err
}

// options are the arguments that begin with a dash, without their values.
func options(arguments []string) []string {
	var out []string
	for _, a := range arguments {
		if strings.HasPrefix(a, "-") {
			name, _, _ := strings.Cut(a, "=")
			out = append(out, name)
		}
	}
	return out
}

// unknownOptions are the options before the trainer that torchrun lacks, and those behind it that the
// trainer lacks.
func unknownOptions(arguments []string, trainer string, torchrun, program programFlags) []string {
	i := slices.Index(arguments, trainer)
	own, torchruns := arguments[i:], arguments[:i]
	if shell := slices.Index(torchruns, "bash"); shell >= 0 { // --no-python
		torchruns = torchruns[:shell]
	}
	var out []string
	for _, o := range options(torchruns) {
		if !slices.Contains(torchrun.Flags, o) {
			out = append(out, "torchrun "+o)
		}
	}
	for _, o := range options(own) {
		if !slices.Contains(program.Flags, o) {
			out = append(out, trainer+" "+o)
		}
	}
	return out
}

// tree makes the files that a release of torchtitan has for its models.
func tree(t *testing.T, layout string, models []string) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{}
	if layout == "toml" {
		for _, m := range models {
			files["torchtitan/models/llama3/train_configs/"+m+".toml"] = "[job]\n"
		}
	} else {
		files["torchtitan/models/qwen3/config_registry.py"] = "def qwen3_8b() -> Trainer.Config:\n    return 1\n"
		var text strings.Builder
		for _, m := range models {
			text.WriteString("def " + m + "() -> Trainer.Config:\n    return 1\n\n")
		}
		files["torchtitan/models/llama3/config_registry.py"] = text.String()
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The command line of torchtitan was that of 0.1 for every release: since the configurations are
// Python, --job.config_file is unknown and no TOML file exists.
func TestTorchtitanOptions(t *testing.T) {
	t.Parallel()
	all := fixtures(t)
	want := map[string][]string{"toml": {"--job.config_file", "--metrics.log_freq", "--training.steps"}, "python": {"--config", "--metrics.log_freq", "--module", "--training.steps"}}
	for layout, release := range all.Torchtitan {
		dir := tree(t, layout, release.Models)
		for _, model := range release.Models {
			arguments, message, err := runScript(t, torchtitanScript, "TORCHTITAN_HOME="+dir, "MODEL="+model)
			if err != nil {
				t.Errorf("%s, %s: %v: %s", layout, model, err, message)
				continue
			}
			if bad := unknownOptions(arguments, "torchtitan.train", all.Torchrun, release); len(bad) > 0 {
				t.Errorf("%s (%s), %s: unknown: %v", layout, release.Versions, model, bad)
			}
			got := options(arguments[slices.Index(arguments, "torchtitan.train"):])
			slices.Sort(got)
			if !slices.Equal(got, want[layout]) {
				t.Errorf("%s: %v, want %v", layout, got, want[layout])
			}
		}
		if _, message, err := runScript(t, torchtitanScript, "TORCHTITAN_HOME="+dir, "MODEL=llama3-8b"); err == nil || !strings.Contains(message, "has no configuration llama3-8b") {
			t.Errorf("%s: a model that does not exist: %v: %s", layout, err, message)
		}
		if len(release.Sources) == 0 || len(release.Models) == 0 {
			t.Errorf("%s has no sources or models", layout)
		}
	}
	if len(all.Torchtitan) != 2 {
		t.Errorf("%d layouts", len(all.Torchtitan))
	}
}

func TestMegatronOptions(t *testing.T) {
	t.Parallel()
	all := fixtures(t)
	dir := t.TempDir()
	arguments := filepath.Join(dir, "model.args")
	if err := os.WriteFile(arguments, []byte("--micro-batch-size 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, message, err := runScript(t, megatronScript, "MEGATRON_HOME="+dir, "MODEL_ARGUMENTS="+arguments, "MODEL=m")
	if err != nil {
		t.Fatalf("%v: %s", err, message)
	}
	if bad := unknownOptions(got, "pretrain_gpt.py", all.Torchrun, all.Megatron); len(bad) > 0 {
		t.Errorf("unknown: %v", bad)
	}
}

// torchrun starts each rank with --no-python, and its output gets the label of the rank: the rank has output and a time whether or not
// Megatron prints on it, and Megatron gets its arguments.
func TestMegatronRankBegins(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"model.args": "--micro-batch-size 1\n", "python3": "#!/bin/bash\necho \"argv: $*\"\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	arguments, message, err := runScript(t, megatronScript, "MEGATRON_HOME="+dir, "MODEL_ARGUMENTS=model.args", "MODEL=m")
	i := slices.Index(arguments, "--no-python")
	if err != nil || i < 0 {
		t.Fatalf("%v: %s", err, message)
	}
	cmd := exec.CommandContext(t.Context(), "/usr/bin/env", arguments[i+1:]...)
	cmd.Env = []string{"PATH=" + dir + ":/usr/bin:/bin", "RANK=5", "WORLD_SIZE=32"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if want := "argv: -u pretrain_gpt.py --micro-batch-size 1 --train-iters 60 --log-interval 1 --log-throughput --log-straggler"; lines[len(lines)-1] != want {
		t.Errorf("%q, want %q", lines, want)
	}
	log, err := trainer.ParseMegatron(strings.NewReader("[rank5]:" + strings.Join(lines, "\n[rank5]:")))
	if err != nil || len(log.Ranks) != 1 || log.Ranks[0].Rank != 5 || log.Ranks[0].Started.IsZero() {
		t.Errorf("%+v, %v", log.Ranks, err)
	}
}

// An option that a release does not have is found.
func TestUnknownOptionsAreFound(t *testing.T) {
	t.Parallel()
	all := fixtures(t)
	got := unknownOptions([]string{"--nnodes=1", "--nproc=8", "-m", "torchtitan.train", "--job.config_file", "a.toml", "--training.steps", "5"}, "torchtitan.train", all.Torchrun, all.Torchtitan["python"])
	if !slices.Equal(got, []string{"torchrun --nproc", "torchtitan.train --job.config_file"}) {
		t.Errorf("%v", got)
	}
}

// The rendezvous is at the pod of index 0, whose name depends on the kind of job.
func TestRendezvous(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "args"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for hosts, want := range map[string]string{"": "training-0.training", "training-launcher.training training-worker-0.training": "training-launcher.training"} {
		arguments, message, err := runScript(t, megatronScript, "MEGATRON_HOME="+home, "MODEL_ARGUMENTS=args", "HOSTS="+hosts)
		if err != nil || !slices.Contains(arguments, "--master-addr="+want) {
			t.Errorf("HOSTS=%q: %v, want the address %s: %s", hosts, err, want, message)
		}
	}
}
