package disaggregated

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firstlight/firstlight/internal/conformance/answering"
	"github.com/firstlight/firstlight/internal/conformance/dra/record"
	"github.com/firstlight/firstlight/internal/conformance/served"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Kinds of observations, and what their figures are.
const (
	kindOperators = "inference-operators" // []operator
	kindPhases    = "phases"              // []phasePod
	kindRequest   = "request-to-a-model"  // []answering.Answer
)

// The phases.
const (
	prefill = "prefill"
	decode  = "decode"
)

// Bounds of what is looked at.
const (
	mostObjects  = 50
	mostServices = 8
)

// operator is a known kind; Version is empty where it is not served.
type operator struct {
	What    string   `json:"what"`
	Kind    string   `json:"kind"`
	Version string   `json:"version,omitempty"`
	Objects []object `json:"objects"`
}

type object struct {
	Name  string `json:"name"`
	Ready bool   `json:"ready"`
}

// phasePod is a pod that says which phase it is of.
type phasePod struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	Phase     string `json:"phase"`
	Ready     bool   `json:"ready"`
	labels    map[string]string
}

func look(ctx context.Context, cluster *kube.Cluster, rec record.Notes) error {
	rec.Progress("looking for disaggregated inference")
	k, err := load()
	if err != nil {
		return err
	}
	n := rec.Begin(kindOperators, "cluster", "GET the API groups of known operators, and their objects")
	operators, unseen := readOperators(ctx, cluster, k)
	if kept := n.Keep(operators, unseen); kept != nil {
		return kept //nolint:wrapcheck // the store's
	}
	n = rec.Begin(kindPhases, "cluster", "GET pods with a known label of prefill or decode")
	pods, unseen := readPhases(ctx, cluster, k)
	if kept := n.Keep(pods, unseen); kept != nil || unseen != nil {
		return kept //nolint:wrapcheck // the store's
	}
	namespace, _, _ := beside(pods)
	if namespace == "" {
		return nil
	}
	rec.Progress("asking the Services of %s for a token", namespace)
	n = rec.Begin(kindRequest, namespace, "GET /v1/models, POST /v1/completions through the API server's proxy of Services that lead to neither phase alone")
	answers, unseen := ask(ctx, cluster, namespace, pods)
	return n.Keep(answers, unseen) //nolint:wrapcheck // the store's
}

func readOperators(ctx context.Context, cluster *kube.Cluster, k known) ([]operator, error) {
	out := []operator{}
	for _, kind := range k.Kinds {
		o := operator{What: kind.What, Kind: kind.Resource + "." + kind.Group, Objects: []object{}}
		gvr, ok, err := served.Find(ctx, cluster, kind.Group, kind.Resource)
		if err != nil {
			return nil, err //nolint:wrapcheck // says what it reads
		}
		if ok {
			o.Version = gvr.Version
			list, err := cluster.Dynamic.Resource(gvr).List(ctx, metav1.ListOptions{Limit: mostObjects})
			if err != nil {
				return nil, fmt.Errorf("list %s: %w", o.Kind, err)
			}
			for i := range list.Items {
				u := &list.Items[i]
				o.Objects = append(o.Objects, object{Name: u.GetNamespace() + "/" + u.GetName(), Ready: ready(u, kind.Ready)})
			}
		}
		out = append(out, o)
	}
	return out, nil
}

// ready says that an object has a condition that is true.
func ready(u *unstructured.Unstructured, condition string) bool {
	all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	return slices.ContainsFunc(all, func(raw any) bool {
		c, ok := raw.(map[string]any)
		return ok && c["type"] == condition && c["status"] == string(metav1.ConditionTrue)
	})
}

func readPhases(ctx context.Context, cluster *kube.Cluster, k known) ([]phasePod, error) {
	out := []phasePod{}
	seen := map[string]bool{}
	for _, by := range k.Phases {
		list, err := cluster.Client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{LabelSelector: fmt.Sprintf("%s in (%s,%s)", by.Label, prefill, decode)})
		if err != nil {
			return nil, fmt.Errorf("list pods with label %s: %w", by.Label, err)
		}
		for _, p := range list.Items {
			if seen[string(p.UID)] {
				continue
			}
			seen[string(p.UID)] = true
			is := slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue })
			out = append(out, phasePod{Namespace: p.Namespace, Pod: p.Name, Phase: p.Labels[by.Label], Ready: is, labels: p.Labels})
		}
	}
	return out, nil
}

// beside is the first namespace that has ready pods of both phases, with how many.
func beside(pods []phasePod) (namespace string, prefills, decodes int) {
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

// ask asks the Services of a namespace that lead to neither phase alone, until one
// answers.
func ask(ctx context.Context, cluster *kube.Cluster, namespace string, pods []phasePod) ([]answering.Answer, error) {
	list, err := cluster.Client.CoreV1().Services(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list services of %s: %w", namespace, err)
	}
	out := []answering.Answer{}
	for _, s := range list.Items {
		if len(out) == mostServices || len(s.Spec.Ports) == 0 || leadsTo(s.Spec.Selector, namespace, pods) {
			continue
		}
		a := answering.Ask(ctx, cluster, fmt.Sprintf("%s/%s:%d", namespace, s.Name, s.Spec.Ports[0].Port))
		out = append(out, a)
		if a.Done {
			break
		}
	}
	return out, ctx.Err() //nolint:wrapcheck // interrupted
}

// leadsTo says that a Service selects a pod of a phase: it goes around the other.
func leadsTo(selector map[string]string, namespace string, pods []phasePod) bool {
	if len(selector) == 0 {
		return false
	}
	matches := labels.SelectorFromSet(selector)
	return slices.ContainsFunc(pods, func(p phasePod) bool { return p.Namespace == namespace && matches.Matches(labels.Set(p.labels)) })
}
