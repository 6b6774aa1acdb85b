package ciworkflow_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/ciworkflow"
	"github.com/firstlight/firstlight/internal/impact"
)

var own = ciworkflow.Source{Own: true}

// kinds are the kinds of repositories that workflows are rendered for.
func kinds() map[string]ciworkflow.RecipeOptions {
	return map[string]ciworkflow.RecipeOptions{
		"own":     {Source: own, Recipes: "recipes", Main: "main"},
		"another": {Source: ciworkflow.Source{Version: "v1.2.3"}, Recipes: "our/recipes", Main: "trunk", Harness: []impact.Glob{"ci/**", "tools/*.sh"}},
	}
}

func render(t *testing.T, o ciworkflow.RecipeOptions) []ciworkflow.File {
	t.Helper()
	files, err := ciworkflow.RenderRecipes(o)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// lint returns the messages of actionlint for a workflow.
func lint(t *testing.T, f ciworkflow.File) []string {
	t.Helper()
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{Shellcheck: "", Pyflakes: ""})
	if err != nil {
		t.Fatal(err)
	}
	project, err := actionlint.NewProject(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	found, err := linter.Lint(f.Name, f.Data, project)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range found {
		out = append(out, e.Error())
	}
	return out
}

func TestRecipeWorkflowsLint(t *testing.T) {
	t.Parallel()
	for name, o := range kinds() {
		for _, f := range render(t, o) {
			if found := lint(t, f); len(found) > 0 {
				t.Errorf("%s, %s:\n%s", name, f.Name, strings.Join(found, "\n"))
			}
		}
	}
}

// Negative control: the linter reports broken workflows.
func TestLintFinds(t *testing.T) {
	t.Parallel()
	files := render(t, kinds()["own"])
	for old, with := range map[string]string{
		"needs: [plan, tier1, tier2]": "needs: [plan, tier1]",                    // outputs of tier2 are used
		"steps.plan.outputs.tier1":    "steps.plna.outputs.tier1",                // no such step
		"BASE: ${{ github.event":      "BASE: ${{ github.head_ref }}${{ gthub.e", // no such context
		"timeout-minutes: 20":         "timeout-minuts: 20",
	} {
		f := files[0]
		f.Data = []byte(strings.Replace(string(f.Data), old, with, 1))
		if string(f.Data) == string(files[0].Data) {
			t.Fatalf("%q not found in the workflow", old)
		}
		if found := lint(t, f); len(found) == 0 {
			t.Errorf("no message after replacing %q by %q", old, with)
		}
	}
}

type job struct {
	Name        string            `json:"name"`
	Needs       any               `json:"needs"`
	If          string            `json:"if"`
	Timeout     int               `json:"timeout-minutes"`
	Permissions any               `json:"permissions"`
	Outputs     map[string]string `json:"outputs"`
	Steps       []struct {
		Uses string            `json:"uses"`
		Run  string            `json:"run"`
		If   string            `json:"if"`
		Env  map[string]string `json:"env"`
		With map[string]any    `json:"with"`
	} `json:"steps"`
}

type file struct {
	Name        string         `json:"name"`
	Permissions map[string]any `json:"permissions"`
	Concurrency struct {
		Group  string `json:"group"`
		Cancel any    `json:"cancel-in-progress"`
	} `json:"concurrency"`
	Jobs map[string]job `json:"jobs"`
}

func parse(t *testing.T, f ciworkflow.File) file {
	t.Helper()
	var out file
	if err := yaml.Unmarshal(f.Data, &out); err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	return out
}

var pinned = regexp.MustCompile(`^[a-z-]+/[a-z-]+@[0-9a-f]{40}$`)

func TestWorkflows(t *testing.T) {
	t.Parallel()
	for kind, o := range kinds() {
		for _, rendered := range render(t, o) {
			name, w := kind+", "+rendered.Name, parse(t, rendered)
			if fmt.Sprint(w.Permissions) != "map[contents:read]" {
				t.Errorf("%s: permissions %v", name, w.Permissions)
			}
			if !impact.Workflows.Match(".github/workflows/" + rendered.Name) {
				t.Errorf("%s is not part of the harness", name)
			}
			for id, j := range w.Jobs {
				if j.Timeout < 1 || j.Timeout > 120 || j.Permissions != nil {
					t.Errorf("%s: job %s: timeout %d minutes, permissions %v", name, id, j.Timeout, j.Permissions)
				}
				for _, s := range j.Steps {
					if s.Uses != "" && !pinned.MatchString(s.Uses) {
						t.Errorf("%s: job %s uses %s, which is not pinned", name, id, s.Uses)
					}
					if strings.Contains(s.Run, "${{") {
						t.Errorf("%s: job %s: expression in a script: %s", name, id, s.Run)
					}
					if strings.HasPrefix(s.Uses, "actions/checkout") && s.With["persist-credentials"] != false {
						t.Errorf("%s: job %s: checkout persists credentials", name, id)
					}
				}
			}
			summary := w.Jobs["recipes"]
			var needs, others []string
			for _, n := range summary.Needs.([]any) {
				needs = append(needs, n.(string))
			}
			for id := range w.Jobs {
				if id != "recipes" {
					others = append(others, id)
				}
			}
			slices.Sort(needs)
			slices.Sort(others)
			if !slices.Equal(needs, others) || summary.If != "always()" {
				t.Errorf("%s: the summary needs %v, want %v; if: %q, want always()", name, needs, others, summary.If)
			}
			decide := summary.Steps[len(summary.Steps)-1]
			for _, s := range summary.Steps {
				if strings.Contains(s.Run, "recipe summarize") {
					decide = s
				}
			}
			for _, id := range others {
				if !strings.Contains(decide.Run, `--job "`+id+`=$`+strings.ToUpper(id)+`"`) || decide.Env[strings.ToUpper(id)] != "${{ needs."+id+".result }}" {
					t.Errorf("%s: the summary does not get the result of job %s", name, id)
				}
			}
			if decide.If != "" {
				t.Errorf("%s: the summary step has the condition %s", name, decide.If)
			}
		}
	}
}

// A newer commit of a pull request cancels the older run; a run of all recipes is never
// cancelled. Only the check of pull requests is named recipes.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	files := render(t, kinds()["own"])
	pr, all := parse(t, files[0]), parse(t, files[1])
	if fmt.Sprint(pr.Concurrency.Cancel) != "${{ github.event_name == 'pull_request' }}" || !strings.Contains(pr.Concurrency.Group, "github.event.pull_request.number") {
		t.Errorf("pull requests: %+v", pr.Concurrency)
	}
	if all.Concurrency.Cancel != false || !strings.Contains(all.Concurrency.Group, "${{ github.sha }}") {
		t.Errorf("all: %+v", all.Concurrency)
	}
	if pr.Jobs["recipes"].Name != "recipes" || all.Jobs["recipes"].Name == "recipes" {
		t.Error("only the check of pull requests must be named recipes")
	}
}

// The workflows read only outputs that the plan writes.
func TestOutputs(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	p := impact.Plan{Event: impact.PullRequest}
	if err := p.WriteGitHub(&b); err != nil {
		t.Fatal(err)
	}
	for _, f := range render(t, kinds()["own"]) {
		for key, from := range parse(t, f).Jobs["plan"].Outputs {
			if from != "${{ steps.plan.outputs."+key+" }}" || !strings.Contains("\n"+b.String(), "\n"+key+"=") {
				t.Errorf("%s: output %s is %s; the plan writes\n%s", f.Name, key, from, b.String())
			}
		}
	}
}

func TestInvalidRecipeOptions(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]ciworkflow.RecipeOptions{
		"invalid firstlight version": {Source: ciworkflow.Source{Version: "devel"}, Recipes: "recipes", Main: "main"},
		"recipe directory":           {Source: own, Recipes: "a b", Main: "main"},
		"must not begin with -":      {Source: own, Recipes: "-x", Main: "main"},
		"branch":                     {Source: own, Recipes: "recipes", Main: "main]"},
		"harness":                    {Source: own, Recipes: "recipes", Main: "main", Harness: []impact.Glob{"a'b"}},
		"pattern":                    {Source: own, Recipes: "recipes", Main: "main", Harness: []impact.Glob{"/a"}},
	} {
		if _, err := ciworkflow.RenderRecipes(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
	}
}

func TestDisk(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "workflows")
	files := render(t, kinds()["own"])
	for _, want := range []int{2, 0} {
		if got, err := ciworkflow.Different(dir, files); err != nil || len(got) != want {
			t.Errorf("got different files %v, %v; want %d", got, err, want)
		}
		if got, err := ciworkflow.Write(dir, files); err != nil || len(got) != want {
			t.Errorf("got written files %v, %v; want %d", got, err, want)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, files[1].Name), append(files[1].Data, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ciworkflow.Different(dir, files); err != nil || len(got) != 1 || got[0] != files[1].Name {
		t.Errorf("got different files %v, %v", got, err)
	}
}

// The workflows of this repository are up to date.
func TestCommittedWorkflowsAreCurrent(t *testing.T) {
	t.Parallel()
	got, err := ciworkflow.Different("../../.github/workflows", render(t, kinds()["own"]))
	if err != nil || len(got) > 0 {
		t.Errorf("stale: %v, %v; run firstlight recipe workflow", got, err)
	}
}

// Workflows that are written by hand are valid, and the actions that they run are pinned by commit.
func TestCommittedWorkflowsLint(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../.github/workflows/*.yaml")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d workflows, %v", len(files), err)
	}
	pinned := regexp.MustCompile(`^\S+@[0-9a-f]{40} # v`)
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if found := lint(t, ciworkflow.File{Name: filepath.Base(path), Data: data}); len(found) > 0 {
			t.Errorf("%s:\n%s", path, strings.Join(found, "\n"))
		}
		for line := range strings.Lines(string(data)) {
			if _, action, uses := strings.Cut(line, "uses: "); uses && !pinned.MatchString(action) {
				t.Errorf("%s: %s is not pinned by commit with its version", path, strings.TrimSpace(action))
			}
		}
	}
}
