package catalog

import "reflect"

// Level of a requirement.
type Level string

// The levels.
const (
	Must   Level = "MUST"
	Should Level = "SHOULD"
)

// Document is a checklist, or a product's submission (PRODUCT.yaml): a completed checklist.
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

// Entry is a requirement in a Document. ID, Description and Level are the program's, the rest
// the product's.
type Entry struct {
	ID          string `yaml:"id"`
	Description string `yaml:"description"`
	Level       string `yaml:"level"`
	// Status is empty, or one of the program's four values.
	Status string `yaml:"status"`
	// Evidence are URLs, or paths relative to the document's directory.
	Evidence []string `yaml:"evidence"`
	Notes    string   `yaml:"notes"`
}

// Category is a block of a Spec, by its key.
type Category struct {
	Name    string
	Entries []Entry
}

// Categories lists all categories of a Spec in the program's order, with the entries of each.
func (s Spec) Categories() []Category {
	v := reflect.ValueOf(s)
	out := make([]Category, 0, v.NumField())
	for i := range v.NumField() {
		entries, _ := v.Field(i).Interface().([]Entry)
		out = append(out, Category{Name: v.Type().Field(i).Tag.Get("yaml"), Entries: entries})
	}
	return out
}
