package attest

import (
	"encoding/json"
	"strings"
	"testing"
)

// Every object of the schema names all of its keys, or says what any other has to be.
func TestTheSchemaIsStrict(t *testing.T) {
	t.Parallel()
	var tree any
	if err := json.Unmarshal(schema, &tree); err != nil {
		t.Fatal(err)
	}
	objects := 0
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if v["type"] == "object" {
				objects++
				if _, ok := v["additionalProperties"]; !ok {
					t.Errorf("%s lets any key through", path)
				}
			}
			for k, child := range v {
				walk(path+"/"+k, child)
			}
		case []any:
			for _, child := range v {
				walk(path, child)
			}
		}
	}
	walk("", tree)
	if objects < 10 {
		t.Errorf("only %d objects", objects)
	}
}

// Sign refuses a statement that Verify would refuse.
func TestAStatementOutOfItsSchemaIsFound(t *testing.T) {
	t.Parallel()
	for name, payload := range map[string]string{
		"nothing":       `{}`,
		"no object":     `[]`,
		"no JSON":       `{"_type"`,
		"two documents": `{} {}`,
	} {
		if _, problems := decodeStatement([]byte(payload)); len(problems) == 0 {
			t.Errorf("%s: no problem", name)
		}
	}
	_, problems := decodeStatement([]byte(`{"_type":"x","subject":[],"predicateType":"y","predicate":{}}`))
	if text := strings.Join(problems, "\n"); len(problems) < 4 || !strings.Contains(text, "/subject") || !strings.Contains(text, "/predicate: ") {
		t.Errorf("not every problem: %s", text)
	}
}
