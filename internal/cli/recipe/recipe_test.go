package recipe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/clitest"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/cli/validate"
	"github.com/firstlight/firstlight/internal/golden"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
)

const testSnapshot = `kind: Snapshot
apiVersion: aicr.run/v1beta1
measurements:
  - {type: K8s, subtypes: [{subtype: server, data: {version: v1.33.5-eks-3025e55}}]}
  - {type: OS, subtypes: [{subtype: release, data: {ID: ubuntu, VERSION_ID: 22.04}}]}
`

// recipeDir is a directory with the small tree in recipes/ and with the other files that the
// commands read.
func recipeDir(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "recipes"), recipetest.Edit(recipetest.Small(), files)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"snapshot.yaml": testSnapshot, "criteria.yaml": "kind: RecipeCriteria\napiVersion: aicr.run/v1beta1\nmetadata: {name: mine}\nspec: {service: eks, intent: training}\n",
		"bare.yaml": "service: eks\nintent: training\n", "typo.yaml": "service: eks\nintnet: training\n", "any.yaml": "service: any\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// recipeRun runs a command line in which @ is the directory, and takes the
// directory out of what it prints.
func recipeRun(t *testing.T, dir, line string) (stdout, stderr string, code int) {
	t.Helper()
	args := strings.Fields(line)
	for i := range args {
		if rest, ok := strings.CutPrefix(args[i], "@"); ok {
			args[i] = dir + rest
		}
	}
	stdout, stderr, code = clitest.Run(t, New, append([]string{"recipe"}, args...)...)
	clean := func(s string) string { return strings.ReplaceAll(s, dir+string(filepath.Separator), "") }
	return clean(stdout), clean(stderr), code
}

const (
	smallTree = " --recipes @/recipes"
	smallLeaf = "h100-eks-ubuntu-training-kubeflow"
)

func TestRecipeGoldens(t *testing.T) {
	t.Parallel()
	dir := recipeDir(t, nil)
	for name, tt := range map[string]struct {
		line string
		code int
	}{
		"list.txt":           {"list" + smallTree, cmdutil.ExitPassed},
		"list-leaves.json":   {"list --leaves --service eks -o json" + smallTree, cmdutil.ExitPassed},
		"resolve.txt":        {"resolve " + smallLeaf + smallTree, cmdutil.ExitPassed},
		"resolve.yaml":       {"resolve --service eks --intent training -o yaml" + smallTree, cmdutil.ExitPassed},
		"explain.txt":        {"resolve --service aks --profile gpuStack=operator-managed --set gpuoperator:driver.version=1 --explain" + smallTree, cmdutil.ExitPassed},
		"explain.json":       {"resolve --service aks --explain -o json" + smallTree, cmdutil.ExitPassed},
		"excluded.txt":       {"resolve --service eks --accelerator h100 --snapshot @/snapshot.yaml" + smallTree, cmdutil.ExitPassed},
		"compat.txt":         {"resolve " + smallLeaf + " --compat aicr" + smallTree, cmdutil.ExitPassed},
		"query-explain.txt":  {"query components.gpu-operator.values.driver " + smallLeaf + " --explain" + smallTree, cmdutil.ExitPassed},
		"diff.txt":           {"diff eks-training h100-eks-training" + smallTree, cmdutil.ExitPassed},
		"diff-compat.txt":    {"diff aicr:" + smallLeaf + " " + smallLeaf + smallTree, cmdutil.ExitPassed},
		"diff.json":          {"diff eks-training h100-eks-training --exit-code -o json" + smallTree, cmdutil.ExitFailed},
		"lint.txt":           {"lint @/recipes", cmdutil.ExitPassed},
		"lint-rules.txt":     {"lint --rules", cmdutil.ExitPassed},
		"constraints.txt":    {"constraints " + smallLeaf + " --snapshot @/snapshot.yaml" + smallTree, cmdutil.ExitFailed},
		"constraints.json":   {"constraints eks --snapshot @/snapshot.yaml -o json" + smallTree, cmdutil.ExitPassed},
		"constraints-no.txt": {"constraints aks --profile gpuStack=operator-managed --snapshot @/snapshot.yaml" + smallTree, cmdutil.ExitFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, stderr, code := recipeRun(t, dir, tt.line)
			if code != tt.code {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			golden.Compare(t, "testdata/golden/"+name, []byte(out))
		})
	}
}

func TestRecipeQuery(t *testing.T) {
	t.Parallel()
	dir := recipeDir(t, nil)
	for line, want := range map[string]string{
		"components.gpu-operator.version eks":                                                        "v25.10.1\n",
		"components.gpu-operator.version --service eks --intent training":                            "v25.10.1\n",
		"components.gpu-operator.version --file @/criteria.yaml --accelerator h100":                  "v25.10.2\n",
		"components.gpu-operator.version service=eks,intent=training,accelerator=h100":               "v25.10.2\n",
		"components.gpu-operator.values.driver.enabled eks":                                          "true\n",
		"components.gpu-operator.values.driver --file @/bare.yaml":                                   "enabled: true\nrdma:\n  enabled: true\nversion: 570.86.16\n",
		"constraints.K8s.server.version.value eks":                                                   ">= 1.32\n",
		"components.*.namespace eks -o json":                                                         "[\n  \"cert-manager\",\n  \"gpu-operator\",\n  \"monitoring\",\n  \"monitoring\"\n]\n",
		"components.kube-prometheus-stack.values.prometheus.prometheusSpec.storageSpec.emptyDir eks": "null\n",
		"components.gpu-operator.values.driver.version eks --set gpuoperator:driver.version=9":       "9\n",
	} {
		if out, stderr, code := recipeRun(t, dir, "query "+line+smallTree); code != cmdutil.ExitPassed || out != want {
			t.Errorf("query %s: exit %d, %q, %s", line, code, out, stderr)
		}
	}
}

// A resolved recipe that was written to a file is the recipe that it was.
func TestRecipeFileIsTheRecipe(t *testing.T) {
	t.Parallel()
	dir := recipeDir(t, nil)
	out, stderr, code := recipeRun(t, dir, "resolve "+smallLeaf+" -o yaml"+smallTree)
	if code != cmdutil.ExitPassed {
		t.Fatal(stderr)
	}
	if err := os.WriteFile(filepath.Join(dir, "recipe.yaml"), []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, stderr, code := recipeRun(t, dir, "diff "+smallLeaf+" @/recipe.yaml --exit-code"+smallTree); code != cmdutil.ExitPassed {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	if out, stderr, code := recipeRun(t, dir, "constraints @/recipe.yaml --snapshot @/snapshot.yaml"+smallTree); code != cmdutil.ExitFailed || !strings.Contains(out, "22.04 is not 24.04") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}

// Before a migration from aicr, diff lists what would change. Equal results have no row: nulls,
// an intent of any and dimensions without a value in the query are not differences.
func TestRecipeDiffWithAicrHasNoFalseRow(t *testing.T) {
	t.Parallel()
	dir := recipeDir(t, map[string]string{
		"overlays/h100-any.yaml": "", "overlays/h100-eks-ubuntu-training-kubeflow.yaml": "", "overlays/h100-eks-training.yaml": "",
		"overlays/aks/aks.yaml": "", "overlays/aks/a100-aks-inference.yaml": "", "overlays/eks-training.yaml": "",
		"overlays/eks.yaml": "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: eks}\nspec:\n  criteria: {service: eks, intent: any}\n  componentRefs:\n" +
			"    - {name: kube-prometheus-stack, valuesFile: components/kps.yaml, overrides: {prometheus: {prometheusSpec: {retention: 24h, storageSpec: {emptyDir: null}}}}}\n",
		"components/kps.yaml": "alertmanager: null\n",
	})
	line := " --exit-code" + smallTree
	if out, stderr, code := recipeRun(t, dir, "diff aicr:eks eks"+line); code != cmdutil.ExitPassed || !strings.Contains(out, "are identical") || strings.Contains(out, "only in") || !strings.Contains(out, "aicr v0.11.1") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	if out, _, code := recipeRun(t, dir, "query components.kube-prometheus-stack.values.prometheus.prometheusSpec.storageSpec.emptyDir eks --compat aicr@v0.11.1"+smallTree); code != cmdutil.ExitPassed || out != "null\n" {
		t.Errorf("exit %d: %q", code, out)
	}
	written := "kind: RecipeResult\napiVersion: aicr.nvidia.com/v1alpha1\nmetadata: {version: v0.11.1, appliedOverlays: [base]}\n" +
		"criteria: {service: eks, accelerator: any, intent: any, os: any, platform: any}\ncomponentRefs: []\ndeploymentOrder: []\n"
	if err := os.WriteFile(filepath.Join(dir, "aicr.yaml"), []byte(written), 0o600); err != nil {
		t.Fatal(err)
	}
	out, stderr, code := recipeRun(t, dir, "diff @/aicr.yaml eks"+line)
	if code != cmdutil.ExitFailed || strings.Contains(out, "criteria.") {
		t.Errorf("a dimension that is any differs from one that is left out: exit %d: %s%s", code, out, stderr)
	}
}

// With --compat aicr, each key that aicr ignores is a warning with its position; without the flag the key is an error or has an effect.
func TestRecipeCompatWarnsOfIgnoredKeys(t *testing.T) {
	t.Parallel()
	dir := recipeDir(t, nil)
	_, stderr, code := recipeRun(t, dir, "resolve "+smallLeaf+" --compat aicr"+smallTree)
	if code != cmdutil.ExitPassed || !strings.Contains(stderr, "recipes/overlays/h100-eks-ubuntu-training-kubeflow.yaml:") || !strings.Contains(stderr, `aicr v0.11.1 ignores the key "mixins"`) {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// --to takes the second recipe from another tree.
func TestRecipeDiffBetweenTrees(t *testing.T) {
	t.Parallel()
	before, after := recipeDir(t, nil), recipeDir(t, map[string]string{
		"components/gpu-operator/values-eks.yaml": "driver: {version: 999.1.1}\n",
	})
	out, stderr, code := recipeRun(t, before, "diff "+smallLeaf+" "+smallLeaf+" --exit-code"+smallTree+" --to "+after)
	if code != cmdutil.ExitFailed || !strings.Contains(out, `~ components.gpu-operator.values.driver.version = "999.1.1", was "580.95.05"  by values`) {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}

func TestRecipeLint(t *testing.T) {
	t.Parallel()
	dir := recipeDir(t, map[string]string{"overlays/x.yaml": "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: x}\nspec: {bsae: eks}\n"})
	for line, want := range map[string]string{
		"":          "recipes/overlays/x.yaml:4:8: error: unknown key \"bsae\" [unknown-key]\n    did you mean \"base\"?",
		"-o github": "::error file=recipes/overlays/x.yaml,line=4,col=8,title=unknown-key::unknown key",
		"-o sarif":  `"ruleId": "unknown-key"`,
		"-o json":   `"rule": "unknown-key"`,
		"-o yaml":   "rule: unknown-key",
	} {
		out, stderr, code := recipeRun(t, dir, "lint @/recipes "+line)
		if code != cmdutil.ExitFailed || !strings.Contains(out, want) {
			t.Errorf("lint %s: exit %d: %s%s", line, code, out, stderr)
		}
	}
	clean := recipeDir(t, nil)
	for line, want := range map[string]int{"lint @": cmdutil.ExitPassed, "lint @ --strict": cmdutil.ExitFailed, "lint @/recipes/components": cmdutil.ExitUsage, "lint @ -o xml": cmdutil.ExitUsage, "lint --rules -o sarif": cmdutil.ExitUsage, "lint --rules -o json": cmdutil.ExitPassed} {
		if out, stderr, code := recipeRun(t, clean, line); code != want {
			t.Errorf("%s: exit %d: %s%s", line, code, out, stderr)
		}
	}
}

// An invalid health check is a lint error, and validate rbac prints no role without it.
func TestRecipeLintReadsHealthChecks(t *testing.T) {
	t.Parallel()
	dir := recipeDir(t, map[string]string{"checks/gpu-operator/health-check.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: gpu-operator}\n"})
	if out, stderr, code := recipeRun(t, dir, "lint @/recipes"); code != cmdutil.ExitFailed || !strings.Contains(out, "recipes/checks/gpu-operator/health-check.yaml:2:1: error: ") || !strings.Contains(out, "[health-check]") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	if out, _, code := recipeRun(t, dir, "lint @/recipes -o sarif"); code != cmdutil.ExitFailed || !strings.Contains(out, `"ruleId": "health-check"`) {
		t.Errorf("exit %d: %s", code, out)
	}
	out, stderr, code := clitest.Run(t, validate.New, "validate", "rbac", "eks", "--recipes", filepath.Join(dir, "recipes"))
	if code != cmdutil.ExitUsage || out != "" || !strings.Contains(stderr, "gpu-operator") || !strings.Contains(stderr, "not-a-test") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}

// Invalid input is a usage error that lists the valid values.
func TestRecipeRefuses(t *testing.T) {
	t.Parallel()
	dir := recipeDir(t, nil)
	broken := recipeDir(t, map[string]string{"overlays/x.yaml": "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: x}\nspec: {base: esk}\n"})
	for line, want := range map[string]string{
		"resolve" + smallTree:                                                "no criteria given",
		"resolve --service gke" + smallTree:                                  "service=gke has no effect",
		"resolve h100-eks-trainning" + smallTree:                             "did you mean h100-eks-training?",
		"resolve nothing" + smallTree:                                        "firstlight recipe list shows all 7",
		"resolve monitoring-hpa" + smallTree:                                 "states no criteria",
		"resolve eks --file @/criteria.yaml" + smallTree:                     "mutually exclusive",
		"resolve @/criteria.yaml" + smallTree:                                "use --file",
		"resolve --file @/typo.yaml" + smallTree:                             "did you mean \"intent\"?",
		"resolve --file @/snapshot.yaml" + smallTree:                         "invalid kind \"Snapshot\": must be RecipeCriteria",
		"resolve --file @/nothing.yaml" + smallTree:                          "no such file",
		"resolve eks --snapshot @/criteria.yaml" + smallTree:                 "invalid kind \"RecipeCriteria\": must be Snapshot",
		"resolve eks --profile a=b" + smallTree:                              "the recipe has no profile",
		"resolve eks --set a" + smallTree:                                    "component:path=value",
		"resolve eks --compat other" + smallTree:                             `invalid --compat "other": must be aicr or aicr@v0.11.1`,
		"resolve eks --compat aicr@v0.12.0" + smallTree:                      `invalid --compat "aicr@v0.12.0": must be aicr or aicr@v0.11.1`,
		"resolve --service ekss --compat aicr" + smallTree:                   `unknown service "ekss": aicr v0.11.1 accepts aks, eks, gke, kind, oke; did you mean eks?`,
		"query . service=eks,intent=train --compat aicr" + smallTree:         `unknown intent "train"`,
		"resolve --service self-managed --compat aicr" + smallTree:           "no criteria",
		"resolve --file @/any.yaml" + smallTree:                              "no criteria given",
		"resolve --snapshot @/snapshot.yaml" + smallTree:                     "a snapshot only leaves overlays out",
		"resolve eks --recipes @/recipes/components":                         "a complete recipe tree is required",
		"diff aicr:service=eks,accelerator=h200 eks" + smallTree:             `unknown accelerator "h200"`,
		"resolve eks --nodes -1" + smallTree:                                 "invalid --nodes",
		"resolve eks --recipes @/nothing":                                    "no such file",
		"resolve eks --recipes @/criteria.yaml":                              "is neither a directory nor an archive",
		"query components.gpu-operater eks" + smallTree:                      "did you mean \"gpu-operator\"?",
		"query a..b eks" + smallTree:                                         "invalid selector \"a..b\": empty key",
		"query deploymentOrder eks --explain" + smallTree:                    "is computed",
		"diff eks gke" + smallTree:                                           "recipe \"gke\" not found",
		"diff eks" + smallTree:                                               "accepts 2 arg(s)",
		"constraints eks" + smallTree:                                        "\"snapshot\" not set",
		"constraints eks --snapshot @/nothing" + smallTree:                   "no such file",
		"constraints @/criteria.yaml --snapshot @/snapshot.yaml" + smallTree: "invalid kind \"RecipeCriteria\": must be RecipeResult",
		"lst": "unknown command",
	} {
		out, stderr, code := recipeRun(t, dir, line)
		if code != cmdutil.ExitUsage || out != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %s%s", line, code, out, stderr)
		}
	}
	if _, stderr, code := recipeRun(t, broken, "list"+smallTree); code != cmdutil.ExitUsage || !strings.Contains(stderr, "missing-parent") || !strings.Contains(stderr, "cannot use recipes: 1 problem") {
		t.Errorf("a broken tree: exit %d: %s", code, stderr)
	}
}

// The tree that ships loads, every recipe resolves, and lint has no errors.
func TestTheTreeThatShips(t *testing.T) {
	t.Parallel()
	out, stderr, code := clitest.Run(t, New, "recipe", "lint", "--strict")
	if code != cmdutil.ExitPassed {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}
