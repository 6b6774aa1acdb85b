package drift

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// StackStep is the name of the step that compares the stack.
const StackStep = "stack"

// Kinds of observations of hosts, as gate node records them.
const (
	kindSMI = "nvidia-smi"
	kindHCA = "ibstat"
)

// hostFigures are the figures of both kinds that are read here.
type hostFigures struct {
	Log  *nvidia.SMILog   `json:"log,omitempty"`
	HCAs []infiniband.HCA `json:"hcas,omitempty"`
}

// Stack is what figures are valid for: sorted values by component.
type Stack map[string][]string

func (s Stack) add(component, value string) {
	if value != "" && !slices.Contains(s[component], value) {
		s[component] = append(s[component], value)
		slices.Sort(s[component])
	}
}

// ofHosts are the versions of drivers and firmware on the hosts.
func ofHosts(obs []check.Observation) Stack {
	out := Stack{}
	for _, kind := range []string{kindSMI, kindHCA} {
		for _, o := range check.OfKind(obs, kind) {
			f, err := check.Decode[hostFigures](o)
			if err != nil {
				continue
			}
			if f.Log != nil {
				out.add("driver", f.Log.Driver)
			}
			for _, h := range f.HCAs {
				out.add("firmware of "+h.Type, h.Firmware)
			}
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
				out.add(nccl, v)
			}
		}
	}
	return out
}

// declared are the profile's digest and the images of a site.
func declared(s *site.Site, p *profile.Profile) (Stack, error) {
	out := Stack{}
	digest, err := digestOf(p)
	if err != nil {
		return nil, err
	}
	out.add("profile", p.Name+" sha256:"+digest)
	out.add("image of collective", s.Workloads.Collective.Image)
	out.add("image of training", s.Workloads.Training.Image)
	out.add("image of inference", s.Workloads.Inference.Image)
	return out, nil
}

// nccl is the component that gate collective observes; hosts and site show the others.
const nccl = "NCCL"

// differ adds a finding for each component that differs from the baseline: NCCL alone, or all
// others. A changed stack is not drift: the baseline is not valid for it.
func (b Baseline) differ(to *check.Builder, now Stack, onlyNCCL bool, ids []string) {
	all := maps.Clone(b.Stack)
	maps.Copy(all, now)
	for _, component := range slices.Sorted(maps.Keys(all)) {
		was, is := b.Stack[component], now[component]
		if slices.Equal(was, is) || (component == nccl) != onlyNCCL {
			continue
		}
		f := check.NewFinding("", component, "accept the changed stack: firstlight accept --from node; its run is the new baseline",
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

// stack is the check of that name.
type stack struct {
	site     *site.Site
	profile  *profile.Profile
	baseline Baseline
	hosts    gate.Hosts
	clock    clock.PassiveClock
}

func (s stack) Name() string { return StackStep }

// commands by kind.
func (s stack) commands() map[string][]string {
	out := map[string][]string{kindSMI: {"nvidia-smi", "-q", "-x"}}
	if s.profile.Rails() {
		out[kindHCA] = []string{"ibstat"}
	}
	return out
}

func (s stack) Describe() []string {
	out := []string{fmt.Sprintf("on %d hosts, and compare the versions with the baseline:", len(s.site.Inventory.Nodes))}
	for _, kind := range slices.Sorted(maps.Keys(s.commands())) {
		out = append(out, ssh.Quote(s.commands()[kind]))
	}
	return out
}

// Observe implements check.Check.
func (s stack) Observe(ctx context.Context, rec check.Recorder) error {
	if s.hosts == nil {
		return errors.New("observe the stack: hosts must be set")
	}
	observer := check.Observer{Recorder: rec, Clock: cmp.Or[clock.PassiveClock](s.clock, clock.RealClock{})}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(max(1, s.site.Reach.SSH.Concurrency-1))
	for _, n := range s.site.Inventory.Nodes {
		work.Go(func() error {
			for _, kind := range slices.Sorted(maps.Keys(s.commands())) {
				argv := s.commands()[kind]
				attempt := observer.Begin(kind, n.Name, ssh.Quote(argv))
				out, err := s.hosts.Run(ctx, n.Name, argv...)
				if err != nil {
					err = attempt.Raw(out.Stdout).Record(nil, err)
				} else {
					f, parseErr := parseHost(kind, out.Stdout)
					err = attempt.Raw(out.Stdout).Exit(out.Exit).Record(f, parseErr)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	return work.Wait()
}

func parseHost(kind string, out []byte) (hostFigures, error) {
	if kind == kindHCA {
		hcas, err := infiniband.ParseStat(out)
		return hostFigures{HCAs: hcas}, err
	}
	log, err := nvidia.ParseSMI(out)
	return hostFigures{Log: &log}, err
}

// Judge implements check.Check: every host must be observed.
func (s stack) Judge(obs []check.Observation) check.Judgement {
	var b check.Builder
	var ids []string
	for _, n := range s.site.Inventory.Nodes {
		for _, kind := range slices.Sorted(maps.Keys(s.commands())) {
			if _, o, ok := check.Require[hostFigures](&b, obs, kind, n.Name, n.Name, "run "+ssh.Quote(s.commands()[kind])+" on the host"); ok {
				ids = append(ids, o.ID)
			}
		}
	}
	now, err := declared(s.site, s.profile)
	if err != nil {
		return check.NotObserved(err.Error())
	}
	maps.Copy(now, ofHosts(obs))
	s.baseline.differ(&b, now, false, ids)
	return b.Judgement(fmt.Sprintf("profile, images, drivers and firmware of %d hosts are those of run %s", len(s.site.Inventory.Nodes), s.baseline.Run))
}
