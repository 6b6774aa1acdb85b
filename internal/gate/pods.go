package gate

import (
	"errors"

	"github.com/firstlight/firstlight/internal/workload"
)

// checkPods returns an error if a patch of the site changes or removes what the pods of a gate
// need.
func checkPods(gates []gate) error {
	var problems []error
	for _, g := range gates {
		creator, ok := g.(interface {
			Specs() ([]workload.Spec, error)
		})
		if !ok {
			continue
		}
		specs, err := creator.Specs()
		problems = append(problems, err)
		for _, spec := range specs {
			_, err := workload.Render("", "check", nil, spec)
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}
