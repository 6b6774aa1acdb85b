package catalog

import "reflect"

// Level is how binding a requirement is.
type Level string

// The levels.
const (
	Must   Level = "MUST"
	Should Level = "SHOULD"
)

// Document is a checklist, and a product's submission (PRODUCT.yaml), which is a
// checklist filled in.
type Document struct {
	// Metadata by key, as written: both platformName and platform_name are in use.
	Metadata map[string]string `yaml:"metadata"`
	Spec     Spec              `yaml:"spec"`
}

// Spec holds the entries by category.
type Spec struct {
	Accelerators            []Entry `yaml:"accelerators"`
	Networking              []Entry `yaml:"networking"`
	SchedulingOrchestration []Entry `yaml:"schedulingOrchestration"`
	Observability           []Entry `yaml:"observability"`
	Security                []Entry `yaml:"security"`
	Operator                []Entry `yaml:"operator"`
}

// Entry is one requirement in a Document. ID, Description and Level are the
// programme's, the rest the product's.
type Entry struct {
	ID          string `yaml:"id"`
	Description string `yaml:"description"`
	Level       string `yaml:"level"`
	// Status is empty, or one of the programme's four words.
	Status string `yaml:"status"`
	// Evidence are URLs, or paths relative to the document's directory.
	Evidence []string `yaml:"evidence"`
	Notes    string   `yaml:"notes"`
}

// Category is a block of a Spec, by the key that it has there.
type Category struct {
	Name    string
	Entries []Entry
}

// Categories are all that a Spec can have, in the programme's order, with what
// this one holds of each.
func (s Spec) Categories() []Category {
	v := reflect.ValueOf(s)
	out := make([]Category, 0, v.NumField())
	for i := range v.NumField() {
		entries, _ := v.Field(i).Interface().([]Entry)
		out = append(out, Category{Name: v.Type().Field(i).Tag.Get("yaml"), Entries: entries})
	}
	return out
}
