// Package autoscaling is the step of a validation that checks the autoscaling setup: the
// autoscaler and the metrics adapter run, and the metric that triggers scale-up is available.
// A second, newer sample shows that the metric is live; there is no fixed wait.
package autoscaling

import (
	"cmp"
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

// Observation kinds.
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
	// sampleTimeout covers a scrape, a relist of the adapter and a rate window on a loaded
	// control plane.
	sampleInterval = 500 * time.Millisecond
	sampleTimeout  = 4 * time.Minute
)

// Deps are the dependencies of Observe; Judge needs none.
type Deps struct {
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	// Clock is the system clock if nil.
	Clock clock.PassiveClock
	// SampleTimeout is the time limit for a newer sample; 0: 4 minutes.
	SampleTimeout time.Duration
}

// Options of the check.
type Options struct {
	// FixedNodes: the platform has no autoscaler of nodes, which is then not looked for.
	FixedNodes bool
}

// Check implements the step.
type Check struct {
	conf site.Autoscale
	deps Deps
	opts Options
}

// New returns the check of a site.
func New(s *site.Site, deps Deps, opts Options) *Check {
	deps.Clock = cmp.Or[clock.PassiveClock](deps.Clock, clock.RealClock{})
	deps.SampleTimeout = cmp.Or(deps.SampleTimeout, sampleTimeout)
	return &Check{conf: s.Autoscale, deps: deps, opts: opts}
}

// Name is "autoscaling".
func (c *Check) Name() string { return Name }

// Describe returns the reads of the check.
func (c *Check) Describe() []string {
	programs := fmt.Sprintf("read the autoscaler (%s %s) and the metrics adapter (%s)", c.conf.Autoscaler, c.conf.Controller, c.conf.Adapter)
	if c.opts.FixedNodes {
		programs = fmt.Sprintf("read the metrics adapter (%s)", c.conf.Adapter)
	}
	return []string{
		programs,
		"read " + adapterrules.External + " through the metrics API until a newer sample than the first arrives",
	}
}

// Program is the observed state of a Deployment.
type Program struct {
	// Name is namespace/name.
	Name   string `json:"name"`
	Absent bool   `json:"absent,omitempty"`
	// Managed: the cloud provider runs it, and it is not visible in the cluster.
	Managed bool `json:"managed,omitempty"`
	// Desired and Ready are pods; Current: the status is of the newest generation.
	Desired int32 `json:"desired"`
	Ready   int32 `json:"ready"`
	Current bool  `json:"current"`
}

// API is an API group and whether the API server serves it.
type API struct {
	Group  string `json:"group"`
	Served bool   `json:"served"`
}

// Samples of the metric, read through the metrics API.
type Samples struct {
	Metric string `json:"metric"`
	// First and Last samples that were read; Value is the API's quantity string.
	First Sample `json:"first"`
	Last  Sample `json:"last"`
	Reads int    `json:"reads"`
	// Err is the error of the last read.
	Err string `json:"err,omitempty"`
}

// Sample is a value with its timestamp.
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
	programs, groups := []string{c.conf.Controller, c.conf.Adapter}, map[string]string{apiNodes: nodeGroup(c.conf.Autoscaler), apiMetrics: apiMetrics}
	if c.opts.FixedNodes {
		programs, groups = []string{c.conf.Adapter}, map[string]string{apiMetrics: apiMetrics}
	}
	for _, name := range programs {
		if err := c.observe(rec, kindProgram, name, programCommand(name), func() (any, error) { return program(ctx, cluster, name) }); err != nil {
			return err
		}
	}
	for target, group := range groups {
		if group == "" {
			continue
		}
		if err := c.observe(rec, kindAPI, target, "GET /apis", func() (any, error) { return served(cluster, group) }); err != nil {
			return err
		}
	}
	return c.observe(rec, kindSample, adapterrules.External, "GET "+samplePath, func() (any, error) {
		rec.Progress("waiting for a newer sample of %s than the first", adapterrules.External)
		return c.awaitSample(ctx, cluster)
	})
}

// samplePath is the path of the metric in the metrics API.
const samplePath = "/apis/" + apiMetrics + "/v1beta1/namespaces/default/" + adapterrules.External

func programCommand(name string) string {
	if strings.EqualFold(name, managed) {
		return "none: the site says that the cloud provider runs it"
	}
	return "GET deployment " + name
}

// nodeGroup is the API group of an autoscaler's node API; empty if it has none.
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
		return Program{}, fmt.Errorf("invalid Deployment %q: must be namespace/name, set in the site's autoscale", name)
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
		return API{}, fmt.Errorf("list the API groups: %w", err)
	}
	for _, g := range groups.Groups {
		if g.Name == group {
			return API{Group: group, Served: true}, nil
		}
	}
	return API{Group: group}, nil
}

// awaitSample reads the metric until a sample is newer than the first.
func (c *Check) awaitSample(ctx context.Context, cluster *kube.Cluster) (Samples, error) {
	s := Samples{Metric: adapterrules.External}
	err := wait.PollUntilContextTimeout(ctx, sampleInterval, c.deps.SampleTimeout, true, func(ctx context.Context) (bool, error) {
		s.Reads++
		sample, unread := read(ctx, cluster, samplePath)
		s.add(sample, unread)
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

// add adds a sample or the error of a read.
func (s *Samples) add(sample Sample, unread error) {
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
		return Sample{}, fmt.Errorf("decode the response of %s: %w", path, err)
	}
	if len(list.Items) == 0 {
		return Sample{}, errors.New("the metrics API has no value of the metric")
	}
	return Sample{At: list.Items[0].Timestamp.Time, Value: list.Items[0].Value}, nil
}

func (c *Check) observe(rec check.Recorder, kind, target, command string, read func() (any, error)) error {
	attempt := check.Observer{Recorder: rec, Clock: c.deps.Clock}.Begin(kind, target, command)
	return attempt.Record(read())
}
