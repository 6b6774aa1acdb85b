package assertion

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A plain path from the root of an object, as expressions have them.
var plainPath = regexp.MustCompile(`(?:^|[^\w.$'"])((?:spec|status|metadata)(?:\.[A-Za-z_]\w*)+)`)

// maxValue is how much of a value is shown.
const maxValue = 80

// valuesOf returns the values of the paths that an expression at the root of an object reads,
// for the finding.
func valuesOf(expression string, object map[string]any) []string {
	var out []string
	for _, found := range plainPath.FindAllStringSubmatch(expression, -1) {
		path := found[1]
		if text := path + " " + valueAt(object, strings.Split(path, ".")); path != expression && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

func valueAt(object map[string]any, path []string) string {
	value, has, err := unstructured.NestedFieldNoCopy(object, path...)
	if err != nil || !has {
		return "is absent"
	}
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("is a %T", value)
	}
	text := string(data)
	if len(text) > maxValue {
		text = strings.ToValidUTF8(text[:maxValue], "") + "..."
	}
	return "is " + text
}
