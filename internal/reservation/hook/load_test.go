package hook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/config"
)

const example = "../../../examples/hooks/hooks.yaml"

func TestTheExample(t *testing.T) {
	t.Parallel()
	c, err := Load(example)
	if err != nil {
		t.Fatal(err)
	}
	aws := c.Hooks[config.AWS]
	if len(aws.Command) == 0 || !strings.HasSuffix(aws.Command[0], "examples/hooks/eks") {
		t.Errorf("the hook of aws is %v", aws.Command)
	}
	if _, err := os.Stat(aws.Command[0]); err != nil {
		t.Error(err)
	}
	if azure := c.Hooks[config.Azure]; azure.Job == nil || azure.Job.Namespace == "" {
		t.Errorf("the hook of azure is %+v", azure)
	}
	if l := aws.Limits[Discover]; l.Time <= 0 || l.Attempts < 1 {
		t.Errorf("discover has no limit: %+v", l)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	c, err := Parse("hooks.yaml", []byte(good+"    limits:\n      provision: {time: 90m}\n      nodes: {attempts: 1, backoff: 0s}\n      test: {time: 30m}\n"))
	if err != nil {
		t.Fatal(err)
	}
	l := c.Hooks[config.AWS].Limits
	if d := DefaultLimits(); l[Provision] != (Limit{90 * time.Minute, d[Provision].Attempts, d[Provision].Backoff}) ||
		l[GetNodes] != (Limit{d[GetNodes].Time, 1, 0}) || l[Teardown] != d[Teardown] ||
		l[Test] != (Limit{30 * time.Minute, 1, d[Test].Backoff}) {
		t.Errorf("limits %+v", l)
	}
}

const good = "apiVersion: hooks.firstlight.dev/v1\nowner: team-a\nhooks:\n  - cloud: aws\n    command: [./eks, -v]\n"

func TestFilesThatAreWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"job.yaml":     template,
		"pod.yaml":     "apiVersion: v1\nkind: Pod\n",
		"retries.yaml": strings.Replace(template, "spec:\n", "spec:\n  backoffLimit: 3\n", 1),
		"unknown.yaml": strings.Replace(template, "spec:\n", "spec:\n  backofLimit: 0\n", 1),
		"many.yaml":    strings.Replace(template, "spec:\n", "spec:\n  parallelism: 2\n", 1),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	job := func(name string) string {
		return strings.Replace(good, "command: [./eks, -v]", "job: {template: "+name+", namespace: hooks}", 1)
	}
	if _, err := Parse(filepath.Join(dir, "h"), []byte(job("job.yaml"))); err != nil {
		t.Fatalf("a valid file: %v", err)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "error: empty file [document]"},
		{"unknown key", good + "    comand: x\n", `did you mean "command"?`},
		{"unknown key of limits", good + "    limits: {provison: {time: 1m}}\n", `did you mean "provision"?`},
		{"version", strings.Replace(good, "/v1", "/v2", 1), "hooks-version"},
		{"no version", strings.Replace(good, "apiVersion", "#", 1), `missing key "apiVersion"`},
		{"no owner", strings.Replace(good, "owner", "#", 1), `missing key "owner"`},
		{"owner", strings.Replace(good, "team-a", "Team_A", 1), "hooks-owner"},
		{"no hooks", "apiVersion: hooks.firstlight.dev/v1\nowner: a\nhooks: []\n", "empty"},
		{"twice", good + "  - cloud: aws\n    command: [x]\n", "hook-twice"},
		{"cloud", strings.Replace(good, "aws", "awz", 1), "hook-cloud"},
		{"neither", "apiVersion: hooks.firstlight.dev/v1\nowner: a\nhooks: [{cloud: aws}]\n", "hook-one-of"},
		{"both", good + "    job: {template: job.yaml, namespace: a}\n", "hook-one-of"},
		{"no program", strings.Replace(good, "./eks", `""`, 1), "hook-one-of"},
		{"variable", good + "    environment: [A=b]\n", "hook-variable"},
		{"secret", good + "    secrets: [\"a b\"]\n", "hook-variable"},
		{"variables of a Job", job("job.yaml") + "    environment: [A]\n", "gets no variables"},
		{"time", good + "    limits: {nodes: {time: soon}}\n", "hook-limit"},
		{"no time", good + "    limits: {nodes: {time: 0s}}\n", "hook-limit"},
		{"days", good + "    limits: {nodes: {time: 25h}}\n", "hook-limit"},
		{"no attempt", good + "    limits: {nodes: {attempts: 0}}\n", "hook-limit"},
		{"attempts", good + "    limits: {nodes: {attempts: 21}}\n", "hook-limit"},
		{"no template", job("none.yaml"), "none.yaml"},
		{"a pod", job("pod.yaml"), "must be a Job of batch/v1"},
		{"retries of its own", job("retries.yaml"), "invalid backoffLimit"},
		{"unknown field", job("unknown.yaml"), `unknown field "backofLimit"`},
		{"many", job("many.yaml"), "more than one pod"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := Parse(filepath.Join(dir, "hooks.yaml"), []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestEverythingWrongIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	_, err := Parse("hooks.yaml", []byte("apiVersion: x\nowner: X\nhooks:\n  - cloud: mars\n    limits: {nodes: {attempts: 0}}\n    typo: 1\n"))
	for _, want := range []string{"hooks-version", "hooks-owner", "hook-cloud", "hook-one-of", "hook-limit", "unknown-key", "hooks.yaml:6"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %s in:\n%v", want, err)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(good)
	f.Add(good + "    limits: {nodes: {time: 1m, attempts: 2, backoff: 1s}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("/nonexistent/hooks.yaml", []byte(text))
		if err != nil {
			return
		}
		for cloud, h := range c.Hooks {
			if h.Cloud != cloud || (len(h.Command) > 0) == (h.Job != nil) || len(h.Limits) != len(Verbs()) {
				t.Errorf("a hook that is wrong was read: %+v", h)
			}
		}
	})
}
