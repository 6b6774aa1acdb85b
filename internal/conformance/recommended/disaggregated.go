package recommended

import (
	"context"
	_ "embed"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Kinds of observations, and what their figures are; and kindRequest: []ModelAnswer.
const (
	kindOperators = "inference-operators" // []inferenceOperator
	kindPhases    = "phases"              // []phasePod
)

// The phases of an inference request.
const (
	prefill = "prefill"
	decode  = "decode"
)

// Limits of what is read.
const (
	maxObjects  = 50
	maxServices = 8
)

//go:embed disaggregated.yaml
var solutionsFile []byte

// solutions are the names by which solutions of disaggregated inference are known.
type solutions struct {
	Kinds []struct {
		Group    string `json:"group"`
		Resource string `json:"resource"`
		// Ready is the condition of an object that is ready.
		Ready  string `json:"ready"`
		What   string `json:"what"`
		Source string `json:"source"`
	} `json:"kinds"`
	Phases []struct {
		Label  string `json:"label"`
		Source string `json:"source"`
	} `json:"phases"`
}

func loadSolutions() (solutions, error) {
	return loadNames[solutions]("disaggregated.yaml", solutionsFile)
}

// inferenceOperator is a known kind; Version is empty where it is not served.
type inferenceOperator struct {
	What    string            `json:"what"`
	Kind    string            `json:"kind"`
	Version string            `json:"version,omitempty"`
	Objects []inferenceObject `json:"objects"`
}

type inferenceObject struct {
	Name  string `json:"name"`
	Ready bool   `json:"ready"`
}

// phasePod is a pod that is labelled with its phase.
type phasePod struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	Phase     string `json:"phase"`
	Ready     bool   `json:"ready"`
	labels    map[string]string
}

// Disaggregated checks disaggregated_inference: ready prefill and decode pods run in one
// namespace, and a Service in front of them answers. An operator alone is not a solution, and
// neither is one phase.
type Disaggregated struct{ deps conformance.Deps }

// NewDisaggregated returns the check.
func NewDisaggregated(_ *site.Site, _ *profile.Profile, deps conformance.Deps) *Disaggregated {
	return &Disaggregated{deps: deps.WithDefaults(timeout)}
}

// Name implements check.Check.
func (*Disaggregated) Name() string { return "disaggregated_inference" }

// Describe lists what the check does.
func (*Disaggregated) Describe() []string {
	return []string{
		"read which operators of disaggregated inference are served (Dynamo, llm-d by KServe, AIBrix, RoleBasedGroup, LeaderWorkerSet), and whether their objects are ready",
		"find a namespace with ready pods of the phases prefill and decode",
		"where there is one, request models and one token through a Service of it",
	}
}

// Observe implements check.Check. It creates nothing: serving a model takes the platform's
// images, weights and GPUs.
func (c *Disaggregated) Observe(ctx context.Context, rec check.Recorder) error {
	return c.deps.Observe(ctx, rec, c.Name(), observeDisaggregated)
}

func observeDisaggregated(ctx context.Context, cluster *kube.Cluster, rec check.Observer) error {
	rec.Progress("looking for disaggregated inference")
	k, err := loadSolutions()
	if err != nil {
		return err
	}
	attempt := rec.Begin(kindOperators, "cluster", "GET the API groups of known operators, and their objects")
	operators, failed := readOperators(ctx, cluster, k)
	if err := attempt.Record(operators, failed); err != nil {
		return err
	}
	attempt = rec.Begin(kindPhases, "cluster", "GET pods with a known label of prefill or decode")
	pods, failed := readPhases(ctx, cluster, k)
	if err := attempt.Record(pods, failed); err != nil || failed != nil {
		return err
	}
	namespace, _, _ := bothPhases(pods)
	if namespace == "" {
		return nil
	}
	rec.Progress("requesting a token through the Services of %s", namespace)
	attempt = rec.Begin(kindRequest, namespace, "GET /v1/models, POST /v1/completions through the API server's proxy of Services that select no pod of a phase")
	answers, failed := probeServices(ctx, cluster, namespace, pods)
	return attempt.Record(answers, failed)
}

func readOperators(ctx context.Context, cluster *kube.Cluster, k solutions) ([]inferenceOperator, error) {
	out := []inferenceOperator{}
	for _, kind := range k.Kinds {
		o := inferenceOperator{What: kind.What, Kind: kind.Resource + "." + kind.Group, Objects: []inferenceObject{}}
		gvr, ok, err := discover(ctx, cluster, kind.Group, kind.Resource)
		if err != nil {
			return nil, err
		}
		if ok {
			o.Version = gvr.Version
			list, err := cluster.Dynamic.Resource(gvr).List(ctx, metav1.ListOptions{Limit: maxObjects})
			if err != nil {
				return nil, fmt.Errorf("list %s: %w", o.Kind, err)
			}
			for i := range list.Items {
				u := &list.Items[i]
				status, _, _ := unstructured.NestedMap(u.Object, "status")
				o.Objects = append(o.Objects, inferenceObject{Name: u.GetNamespace() + "/" + u.GetName(), Ready: hasCondition(status, kind.Ready)})
			}
		}
		out = append(out, o)
	}
	return out, nil
}

func readPhases(ctx context.Context, cluster *kube.Cluster, k solutions) ([]phasePod, error) {
	out := []phasePod{}
	known := map[string]bool{}
	for _, by := range k.Phases {
		list, err := cluster.Client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{LabelSelector: fmt.Sprintf("%s in (%s,%s)", by.Label, prefill, decode)})
		if err != nil {
			return nil, fmt.Errorf("list pods with label %s: %w", by.Label, err)
		}
		for i := range list.Items {
			p := &list.Items[i]
			if known[string(p.UID)] {
				continue
			}
			known[string(p.UID)] = true
			out = append(out, phasePod{Namespace: p.Namespace, Pod: p.Name, Phase: p.Labels[by.Label], Ready: podReady(p), labels: p.Labels})
		}
	}
	return out, nil
}

// bothPhases is the first namespace with ready pods of both phases, and their counts.
func bothPhases(pods []phasePod) (namespace string, prefills, decodes int) {
	count := func(namespace, phase string) (n int) {
		for _, p := range pods {
			if p.Namespace == namespace && p.Phase == phase && p.Ready {
				n++
			}
		}
		return n
	}
	for _, p := range pods {
		prefills, decodes = count(p.Namespace, prefill), count(p.Namespace, decode)
		if prefills > 0 && decodes > 0 {
			return p.Namespace, prefills, decodes
		}
	}
	return "", 0, 0
}

// probeServices probes the Services of a namespace that select no pod of a phase, until one
// answers.
func probeServices(ctx context.Context, cluster *kube.Cluster, namespace string, pods []phasePod) ([]ModelAnswer, error) {
	list, err := cluster.Client.CoreV1().Services(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list services of %s: %w", namespace, err)
	}
	out := []ModelAnswer{}
	for _, s := range list.Items {
		if len(out) == maxServices || len(s.Spec.Ports) == 0 || selectsPhase(s.Spec.Selector, namespace, pods) {
			continue
		}
		a := ProbeModel(ctx, cluster, fmt.Sprintf("%s/%s:%d", namespace, s.Name, s.Spec.Ports[0].Port))
		out = append(out, a)
		if a.Done {
			break
		}
	}
	return out, ctx.Err()
}

// selectsPhase reports whether a Service selects a pod of a phase, and so bypasses the other.
func selectsPhase(selector map[string]string, namespace string, pods []phasePod) bool {
	if len(selector) == 0 {
		return false
	}
	matches := labels.SelectorFromSet(selector)
	return slices.ContainsFunc(pods, func(p phasePod) bool { return p.Namespace == namespace && matches.Matches(labels.Set(p.labels)) })
}
