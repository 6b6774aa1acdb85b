package drift

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate"
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

// Add adds a value, unless it is empty.
func (s Stack) Add(component, value string) {
	if value != "" && !slices.Contains(s[component], value) {
		s[component] = append(s[component], value)
		slices.Sort(s[component])
	}
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
