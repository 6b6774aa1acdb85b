package recommended

import (
	"fmt"
	"regexp"

	"sigs.k8s.io/yaml"
)

// loadNames decodes an embedded file of known names.
func loadNames[T any](file string, data []byte) (names T, err error) {
	if err := yaml.UnmarshalStrict(data, &names); err != nil {
		return names, fmt.Errorf("read %s: %w", file, err)
	}
	return names, nil
}

// namedResource is a kind of device that is known by the name of a driver, or by a regular
// expression of the name of an extended resource.
type namedResource struct {
	Name   string `json:"name"`
	What   string `json:"what"`
	Source string `json:"source"`
	form   *regexp.Regexp
}

// compileNames compiles the regular expressions of the names in a file.
func compileNames(file string, names []namedResource) error {
	for i := range names {
		form, err := regexp.Compile(names[i].Name)
		if err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		names[i].form = form
	}
	return nil
}
