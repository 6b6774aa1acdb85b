package recipe

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/clitest"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
)

// Every recipe of the tree that ships is in exactly one class.
func TestRecipeClasses(t *testing.T) {
	t.Parallel()
	out, stderr, code := clitest.Run(t, New, "recipe", "classes", "-o", "json")
	if code != cmdutil.ExitPassed {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var list recipeClasses
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	in := map[string]int{}
	for _, c := range list.Classes {
		for _, m := range c.Members {
			in[m]++
		}
	}
	if len(in) != list.Recipes || len(list.Classes) == 0 || len(list.Classes) >= list.Recipes || len(list.Unmade) > 0 {
		t.Errorf("%d of %d recipes in %d classes, %d in none", len(in), list.Recipes, len(list.Classes), len(list.Unmade))
	}
	for name, n := range in {
		if n != 1 {
			t.Errorf("%s is in %d classes", name, n)
		}
	}
	if n := len(list.Tiers); n != 3 || list.Tiers[0].Tests+list.Tiers[1].Tests != len(list.Classes) || list.Tiers[2].Tests != list.Recipes {
		t.Errorf("tiers %+v", list.Tiers)
	}
	text, _, _ := clitest.Run(t, New, "recipe", "classes")
	for _, want := range []string{`(?m)^CLASS +SIZE +REPRESENTATIVE +OTHERS$`, `(?m)^[0-9a-f]{12}  2 +eks +eks-ubuntu$`, `\d+ recipes of recipes in \d+ classes`, `tier 1: \d+ recipes, \d+ tests, \d+ saved`, `tier 3: \d+ recipes, \d+ tests\n`} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestRecipeClassesExplain(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"eks eks-ubuntu": "eks and eks-ubuntu are one class",
		"h100-eks-ubuntu-training h100-eks-amazonlinux-training":         "gpu-operator/nvidia-driver-daemonset\n  a  present\n  b  none\n\n2 differences\n",
		"h100-eks-ubuntu-training h100-eks-ubuntu-inference":             "probe kind\n  a  gang\n  b  replicas\n\ncontrol half-gang\n  a  applies\n  b  not applicable\n",
		"h100-eks-ubuntu-training h100-eks-amazonlinux-training -o json": `"path": "gpu-operator/nvidia-driver-daemonset"`,
		"eks eks-ubuntu -o json":                                         `"differences": []`,
	} {
		out, stderr, code := clitest.Run(t, New, append([]string{"recipe", "classes", "--explain"}, strings.Fields(line)...)...)
		if code != cmdutil.ExitPassed || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d %s\n%s", line, code, stderr, out)
		}
	}
}

func TestRecipeClassesMisused(t *testing.T) {
	t.Parallel()
	dir := recipeDir(t, nil)
	for line, want := range map[string]string{
		"classes eks":                       "classes accepts no arguments without --explain",
		"classes --explain eks":             "--explain needs the names of two recipes, got 1",
		"classes --explain eks nothing":     `recipe "nothing" not found`,
		"classes --explain nothing eks":     `recipe "nothing" not found`,
		"classes --recipes @/nothing":       "no such file",
		"classes --recipes @/criteria.yaml": "is neither a directory nor an archive",
	} {
		if _, stderr, code := recipeRun(t, dir, line); code != cmdutil.ExitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %s", line, code, stderr)
		}
	}
}

// A recipe whose nodes and pods cannot be derived has no class and fails the command.
func TestRecipeClassesWithoutScenario(t *testing.T) {
	t.Parallel()
	dir := recipeDir(t, nil)
	out, stderr, code := recipeRun(t, dir, "classes"+smallTree)
	if code != cmdutil.ExitFailed || !strings.Contains(out, "without a class: ") {
		t.Errorf("exit %d: %s\n%s", code, stderr, out)
	}
	if _, stderr, code := recipeRun(t, dir, "classes --explain eks "+smallLeaf+smallTree); code != cmdutil.ExitUsage || !strings.Contains(stderr, "cannot derive the nodes and pods of") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
