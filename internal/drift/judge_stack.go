package drift

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// driver is the component that every host has.
const driver = "driver"

// ofHosts are the versions of drivers and firmware on the hosts.
func ofHosts(obs []check.Observation) Stack {
	out := Stack{}
	for _, m := range node.Inventory(obs) {
		out.Add(driver, m.Driver)
		for _, h := range m.HCAs {
			out.Add("firmware of "+h.Type, h.Firmware)
		}
	}
	return out
}

// ofNCCL are the versions that NCCL printed.
func ofNCCL(obs []check.Observation) Stack {
	out := Stack{}
	for _, o := range check.OfKind(obs, collective.KindRun) {
		if f, err := check.Decode[collective.Figures](o); err == nil {
			for _, v := range f.NCCL.Versions {
				out.Add(nccl, v)
			}
		}
	}
	return out
}

// Profile is the component of the profile.
const Profile = "profile"

// Declared are the profile's digest and the images of a site.
func Declared(s *site.Site, p *profile.Profile) (Stack, error) {
	out := Stack{}
	digest, err := digestOf(p)
	if err != nil {
		return nil, err
	}
	out.Add(Profile, p.Name+" sha256:"+digest)
	out.Add("image of collective", s.Workloads.Collective.Image)
	out.Add("image of training", s.Workloads.Training.Image)
	out.Add("image of inference", s.Workloads.Inference.Image)
	return out, nil
}

// nccl is the component that gate collective observes; hosts and site show the others.
const nccl = "NCCL"

// differ adds a finding for each component that differs from the baseline: NCCL alone, or all
// others. A changed stack is not drift: the baseline is not valid for it.
func (b Baseline) differ(to *check.Builder, now Stack, onlyNCCL bool, ids []string) {
	all := Stack{}
	maps.Copy(all, b.Stack) // nil in a baseline without a stack
	maps.Copy(all, now)
	for _, component := range slices.Sorted(maps.Keys(all)) {
		was, is := b.Stack[component], now[component]
		if slices.Equal(was, is) || (component == nccl) != onlyNCCL {
			continue
		}
		f := check.NewFinding("", component, "accept the changed stack: firstlight accept; its run is the new baseline",
			"%s then, %s now: the baseline of run %s is not valid for another stack", text(was), text(is), b.Run)
		f.Observations = ids
		to.AddUnobserved(f)
	}
}

func text(values []string) string {
	if len(values) == 0 {
		return "unknown"
	}
	return strings.Join(values, " and ")
}

const remedyVersions = "make the host reachable over SSH and its tools runnable by the site's user, or the GPU Operator's pods by reach.gpuTools, then run firstlight drift again"

// Judge implements check.Check: every host must be observed.
func (s stack) Judge(obs []check.Observation) check.Judgement {
	var b check.Builder
	ids := s.versions.Require(&b, obs, remedyVersions)
	now, err := Declared(s.site, s.profile)
	if err != nil {
		return check.NotObserved(err.Error())
	}
	maps.Copy(now, ofHosts(obs))
	s.baseline.differ(&b, now, false, ids)
	return b.Judgement(fmt.Sprintf("profile, images, drivers and firmware of %d hosts are those of run %s", len(s.site.Inventory.Nodes), s.baseline.Run))
}
