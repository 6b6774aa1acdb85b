package docs_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/golden"
	"github.com/firstlight/firstlight/internal/profile"
)

// shipped is the profile whose figures the pages state.
const shipped = "h100-sxm-ndr400"

// figureRow is a table's row that states a figure of the profile by its key.
var figureRow = regexp.MustCompile("(?m)^\\| `([a-zA-Z0-9]+(?:\\.[a-zA-Z0-9 ]+)+)` \\|.*$")

// stated is text with every such row as the profile has it.
func stated(text string, figures map[string]any) (string, error) {
	var problem error
	out := figureRow.ReplaceAllStringFunc(text, func(row string) string {
		key := figureRow.FindStringSubmatch(row)[1]
		cells, err := cellsOf(figures, key)
		if err != nil {
			problem = err
			return row
		}
		return "| `" + key + "` | " + cells + " |"
	})
	return out, problem
}

// cellsOf are a figure's value and source.
func cellsOf(figures map[string]any, key string) (string, error) {
	var at any = figures
	for part := range strings.SplitSeq(key, ".") {
		in, ok := at.(map[string]any)
		if !ok || in[part] == nil {
			return "", fmt.Errorf("profile %s has no figure %s", shipped, key)
		}
		at = in[part]
	}
	switch v := at.(type) {
	case map[string]any:
		if v["value"] == nil {
			return "", fmt.Errorf("%s is not a figure", key)
		}
		return fmt.Sprintf("%v %v | %v", v["value"], v["unit"], v["source"]), nil
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, fmt.Sprint(item))
		}
		return strings.Join(items, ", ") + " | ", nil
	default:
		return fmt.Sprintf("%v | ", v), nil
	}
}

func profileFigures(t *testing.T) map[string]any {
	t.Helper()
	raw, err := profile.Raw(shipped)
	if err != nil {
		t.Fatal(err)
	}
	figures := map[string]any{}
	if err := yaml.Unmarshal(raw, &figures); err != nil {
		t.Fatal(err)
	}
	return figures
}

func TestGatePagesStateTheProfilesFigures(t *testing.T) {
	t.Parallel()
	figures := profileFigures(t)
	rows := 0
	for _, p := range pages(t) {
		if !strings.HasPrefix(p.path, "docs/gates/") {
			continue
		}
		rows += len(figureRow.FindAllString(p.text, -1))
		want, err := stated(p.text, figures)
		if err != nil {
			t.Errorf("%s: %v", p.path, err)
			continue
		}
		golden.Compare(t, filepath.Join(root, filepath.FromSlash(p.path)), want)
	}
	if rows == 0 {
		t.Error("no page states a figure: the search is broken")
	}
}

func TestAWrongFigureIsCorrected(t *testing.T) {
	t.Parallel()
	figures := profileFigures(t)
	for row, good := range map[string]bool{
		"| `training.maxCV` | 0.03 fraction | step stability rule: CV at most 2-3 % |": true,
		"| `training.maxCV` | 0.04 fraction | step stability rule: CV at most 2-3 % |": false,
	} {
		got, err := stated(row, figures)
		if err != nil || (got == row) != good {
			t.Errorf("%s became %s (%v)", row, got, err)
		}
	}
	if _, err := stated("| `training.gone` | 1 |", figures); err == nil {
		t.Error("a key that the profile lacks is stated")
	}
}
