package gate

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/gate/hostcommand"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

// Required is what gates run on hosts and in the cluster.
type Required struct {
	Commands  []hostcommand.Command
	Workloads []workload.Spec
	// Images are images of pods that are not among the Workloads.
	Images []string
}

// RequiredBy collects what the named gates and extras run.
func RequiredBy(s *site.Site, p *profile.Profile, names []string) (Required, error) {
	var out Required
	for _, g := range everything(s, p) {
		if !slices.Contains(names, g.Name()) {
			continue
		}
		if c, ok := g.(interface{ HostCommands() []hostcommand.Command }); ok {
			out.Commands = append(out.Commands, c.HostCommands()...)
		}
		if w, ok := g.(interface {
			Workloads() ([]workload.Spec, error)
		}); ok {
			specs, err := w.Workloads()
			if err != nil {
				return Required{}, fmt.Errorf("list the pods of gate %s: %w", g.Name(), err)
			}
			for i := range specs {
				specs[i].DefaultClass(s.GPUStack.DeviceClass) // a site without one is observed: inventory.Class
			}
			out.Workloads = append(out.Workloads, specs...)
		}
		if i, ok := g.(interface{ Images() []string }); ok {
			out.Images = append(out.Images, i.Images()...)
		}
	}
	return out, nil
}
