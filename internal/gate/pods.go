package gate

import (
	"errors"

	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

// checkPods returns an error if a patch of the site changes or removes what the pods of a gate
// need. Only Kubernetes has pods.
func checkPods(s *site.Site, p *profile.Profile) error {
	if !s.Kubernetes() {
		return nil
	}
	required, err := RequiredBy(s, p, site.Gates())
	problems := []error{err}
	for _, spec := range required.Workloads {
		_, err := workload.Render("", "check", nil, spec)
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}
