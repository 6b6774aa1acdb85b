// Package autoscaling is the step of a validation that sees the set-up for autoscaling:
// the autoscaler and the metrics adapter run, and the metric that nodes are ordered by
// arrives. That monitoring has settled is observed, by a newer sample than the first,
// and not waited for.
package autoscaling

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/adapterrules"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

// Name of the check.
const Name = "autoscaling"

// The kinds of what is observed.
const (
	kindProgram = "program"
	kindAPI     = "api"
	kindSample  = "sample"
)

// The targets of API observations.
const (
	apiNodes   = "node API"
	apiMetrics = "external.metrics.k8s.io"
)

const (
	// every is how often the metric is read, patience for how long: a scrape, a relist of
	// the adapter and a rate window on a loaded control plane.
	every    = 500 * time.Millisecond
	patience = 4 * time.Minute
)

// Deps are how the check gets at the cluster; zero where it only judges.
type Deps struct {
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	// Clock is the real one when nil.
	Clock clock.PassiveClock
	// Patience is 4 minutes when 0.
	Patience time.Duration
}

// Check of the set-up.
type Check struct {
	conf site.Autoscale
	deps Deps
}

var _ check.Check = (*Check)(nil)

// New makes the check of a site.
func New(s *site.Site, deps Deps) *Check {
	if deps.Clock == nil {
		deps.Clock = clock.RealClock{}
	}
	if deps.Patience == 0 {
		deps.Patience = patience
	}
	return &Check{conf: s.Autoscale, deps: deps}
}

// Name is "autoscaling".
func (c *Check) Name() string { return Name }

// Describe says what the check would do.
func (c *Check) Describe() []string {
	return []string{
		fmt.Sprintf("read the autoscaler (%s %s) and the metrics adapter (%s)", c.conf.Autoscaler, c.conf.Controller, c.conf.Adapter),
		"read " + adapterrules.External + " through the metrics API until a newer sample than the first arrives",
	}
}

// Program is a Deployment as it was seen.
type Program struct {
	// Name is namespace/name.
	Name   string `json:"name"`
	Absent bool   `json:"absent,omitempty"`
	// Managed: the cloud runs it, and it can't be seen.
	Managed bool `json:"managed,omitempty"`
	// Desired and Ready are pods; Current says that the status is of the newest generation.
	Desired int32 `json:"desired"`
	Ready   int32 `json:"ready"`
	Current bool  `json:"current"`
}

// API is whether a group is served.
type API struct {
	Group  string `json:"group"`
	Served bool   `json:"served"`
}

// Samples of the metric, read through the metrics API.
type Samples struct {
	Metric string `json:"metric"`
	// First and Last that were read; their Values are as the API has them.
	First Sample `json:"first"`
	Last  Sample `json:"last"`
	Reads int    `json:"reads"`
	// Err is of the last read, when it failed.
	Err string `json:"err,omitempty"`
}

// Sample is one value.
type Sample struct {
	At    time.Time `json:"at"`
	Value string    `json:"value"`
}

// Observe implements check.Check.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	cluster, err := c.deps.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	for _, name := range []string{c.conf.Controller, c.conf.Adapter} {
		if err := c.keep(rec, kindProgram, name, func() (any, error) { return program(ctx, cluster, name) }); err != nil {
			return err
		}
	}
	for target, group := range map[string]string{apiNodes: nodeGroup(c.conf.Autoscaler), apiMetrics: apiMetrics} {
		if group == "" {
			continue
		}
		if err := c.keep(rec, kindAPI, target, func() (any, error) { return served(cluster, group) }); err != nil {
			return err
		}
	}
	return c.keep(rec, kindSample, adapterrules.External, func() (any, error) {
		rec.Progress("waiting for a newer sample of %s than the first", adapterrules.External)
		return c.settle(ctx, cluster)
	})
}

// nodeGroup is the API group of an autoscaler's own nodes; empty where it has none.
func nodeGroup(autoscaler string) string {
	if autoscaler == "karpenter" {
		return "karpenter.sh"
	}
	return ""
}

const managed = "Managed"

func program(ctx context.Context, cluster *kube.Cluster, name string) (Program, error) {
	namespace, bare, ok := strings.Cut(name, "/")
	if strings.EqualFold(name, managed) {
		return Program{Name: name, Managed: true}, nil
	}
	if !ok {
		return Program{}, fmt.Errorf("%q is no namespace/name of a Deployment: set it in the site's autoscale", name)
	}
	d, err := cluster.Client.AppsV1().Deployments(namespace).Get(ctx, bare, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return Program{Name: name, Absent: true}, nil
	}
	if err != nil {
		return Program{}, fmt.Errorf("read Deployment %s: %w", name, err)
	}
	p := Program{Name: name, Desired: 1, Ready: d.Status.ReadyReplicas, Current: d.Status.ObservedGeneration >= d.Generation}
	if d.Spec.Replicas != nil {
		p.Desired = *d.Spec.Replicas
	}
	return p, nil
}

func served(cluster *kube.Cluster, group string) (API, error) {
	groups, err := cluster.Client.Discovery().ServerGroups()
	if err != nil {
		return API{}, fmt.Errorf("list the API's groups: %w", err)
	}
	for _, g := range groups.Groups {
		if g.Name == group {
			return API{Group: group, Served: true}, nil
		}
	}
	return API{Group: group}, nil
}

// settle reads the metric until there is a newer sample than the first.
func (c *Check) settle(ctx context.Context, cluster *kube.Cluster) (Samples, error) {
	s := Samples{Metric: adapterrules.External}
	path := "/apis/external.metrics.k8s.io/v1beta1/namespaces/default/" + adapterrules.External
	err := wait.PollUntilContextTimeout(ctx, every, c.deps.Patience, true, func(ctx context.Context) (bool, error) {
		s.Reads++
		sample, unread := read(ctx, cluster, path)
		s.take(sample, unread)
		return unread == nil && s.Last.At.After(s.First.At), nil
	})
	if ctx.Err() != nil {
		return s, fmt.Errorf("read %s: %w", adapterrules.External, context.Cause(ctx))
	}
	if err != nil && !wait.Interrupted(err) {
		return s, fmt.Errorf("read %s: %w", adapterrules.External, err)
	}
	return s, nil
}

// take notes what a read had, or why it had nothing.
func (s *Samples) take(sample Sample, unread error) {
	if unread != nil {
		s.Err = unread.Error()
		return
	}
	s.Err, s.Last = "", sample
	if s.First.At.IsZero() {
		s.First = sample
	}
}

func read(ctx context.Context, cluster *kube.Cluster, path string) (Sample, error) {
	raw, err := cluster.Client.Discovery().RESTClient().Get().AbsPath(path).DoRaw(ctx)
	if err != nil {
		return Sample{}, fmt.Errorf("GET %s: %w", path, err)
	}
	var list struct {
		Items []struct {
			Timestamp metav1.Time `json:"timestamp"`
			Value     string      `json:"value"`
		} `json:"items"`
	}
	if err := guard.JSON(raw, &list); err != nil {
		return Sample{}, fmt.Errorf("read the answer of %s: %w", path, err)
	}
	if len(list.Items) == 0 {
		return Sample{}, errors.New("the metrics API has no value of it")
	}
	return Sample{At: list.Items[0].Timestamp.Time, Value: list.Items[0].Value}, nil
}

func (c *Check) keep(rec check.Recorder, kind, target string, look func() (any, error)) error {
	o := check.Observation{Kind: kind, Target: target, At: c.deps.Clock.Now()}
	figures, err := look()
	o.Took.Duration = c.deps.Clock.Since(o.At)
	if err != nil {
		o.Err = err.Error()
	} else if o, err = o.WithFigures(figures); err != nil {
		return fmt.Errorf("record %s %s: %w", kind, target, err)
	}
	if _, err := rec.Record(o); err != nil {
		return fmt.Errorf("record %s %s: %w", kind, target, err)
	}
	return nil
}
