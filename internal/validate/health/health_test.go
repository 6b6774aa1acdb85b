package health_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/validate/health"
)

// clusterOf is a cluster of objects, for what of it is only seen.
func clusterOf(t *testing.T, texts ...string) *kube.Cluster {
	t.Helper()
	var list []runtime.Object
	for _, text := range texts {
		data, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := utiljson.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		list = append(list, &unstructured.Unstructured{Object: m})
	}
	client := fake.NewClientset()
	client.Resources = []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "pods", Kind: "Pod", Namespaced: true}}},
		{GroupVersion: "apps/v1", APIResources: []metav1.APIResource{{Name: "deployments", Kind: "Deployment", Namespaced: true}}},
	}
	kinds := map[schema.GroupVersionResource]string{
		{Version: "v1", Resource: "pods"}: "PodList", {Group: "apps", Version: "v1", Resource: "deployments"}: "DeploymentList",
	}
	return &kube.Cluster{Client: client, Dynamic: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, list...)}
}

func given(c *kube.Cluster) health.Deps {
	return health.Deps{Cluster: func(context.Context) (*kube.Cluster, error) { return c, nil }}
}

// notebook takes observations as a store would.
type notebook struct {
	mu  sync.Mutex
	obs []check.Observation
}

func (n *notebook) Record(o check.Observation) (check.Observation, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	o.ID = fmt.Sprintf("%04d", len(n.obs))
	n.obs = append(n.obs, o)
	return o, nil
}

func (*notebook) Progress(string, ...any) {}

const quickly = 50 * time.Millisecond

func observe(t *testing.T, c *health.Check) []check.Observation {
	t.Helper()
	var n notebook
	if err := c.Observe(t.Context(), &n); err != nil {
		t.Fatal(err)
	}
	return n.obs
}

func deployment(name string, available int) string {
	return fmt.Sprintf("{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s, namespace: ns, generation: 1}, spec: {replicas: 2}, status: {observedGeneration: 1, availableReplicas: %d}}", name, available)
}

// asserts is a file of a step for each operation.
func asserts(operations ...string) string {
	var b strings.Builder
	b.WriteString("apiVersion: chainsaw.kyverno.io/v1alpha1\nkind: Test\nmetadata: {name: t}\nspec:\n  timeouts: {assert: 6m, error: 6m}\n  steps:\n")
	for i, op := range operations {
		fmt.Fprintf(&b, "  - name: step-of-%d\n    try:\n    - %s\n", i, op)
	}
	return b.String()
}

func available(name string) string {
	return "assert: {resource: {apiVersion: apps/v1, kind: Deployment, metadata: {name: " + name + ", namespace: ns}, (status.availableReplicas == spec.replicas): true}}"
}

func component(name string, operations ...string) health.Component {
	return health.Component{Name: name, File: "checks/" + name + "/health-check.yaml", Asserts: asserts(operations...)}
}

const pods = "{resource: {apiVersion: v1, kind: Pod, metadata: {namespace: ns, labels: {app: x}}, status: {phase: %s}}}"

func pod(name, phase string) string {
	return "{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", namespace: ns, labels: {app: x}}, status: {phase: " + phase + "}}"
}

func TestHealth(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		components []health.Component
		objects    []string
		want       check.Verdict
		// says are words of findings: suspect, then message.
		says []string
	}{
		"two components that are well": {
			[]health.Component{component("a", available("one"), available("two")), component("b", available("three"))},
			[]string{deployment("one", 2), deployment("two", 2), deployment("three", 2)}, check.Passed, nil,
		},
		"nothing to look at": {nil, nil, check.Unobserved, nil},
		"one figure is wrong": {
			[]health.Component{component("a", available("one"), available("two")), component("b", available("three"))},
			[]string{deployment("one", 2), deployment("two", 1), deployment("three", 2)}, check.Failed,
			[]string{"Deployment ns/two: component a, step step-of-1 (checks/a/health-check.yaml:12:7): (status.availableReplicas == spec.replicas): Invalid value: false: Expected value: true (status.availableReplicas is 1, spec.replicas is 2)"},
		},
		"one object is missing": {
			[]health.Component{component("a", available("one")), component("b", available("three"))},
			[]string{deployment("one", 2)}, check.Failed, []string{"Deployment ns/three: component b, step step-of-0 (checks/b/health-check.yaml:9:7): not found"},
		},
		"each problem has a finding": {
			[]health.Component{component("a", available("one"), available("two")), component("b", available("three"))},
			nil, check.Failed, []string{"ns/one: ", "ns/two: ", "ns/three: "},
		},
		"a component without a file":      {[]health.Component{{Name: "a"}, component("b", available("three"))}, []string{deployment("three", 2)}, check.Failed, []string{"component a: has no assertions"}},
		"a component that is left out":    {[]health.Component{{Name: "a", Missing: "the recipe sets healthCheckSkip"}}, nil, check.Failed, []string{"component a: has no assertions: the recipe sets healthCheckSkip"}},
		"a file without an operation":     {[]health.Component{{Name: "a", File: "a.yaml", Asserts: asserts()}}, nil, check.Failed, []string{"component a: a.yaml:6:3: the test has no step"}},
		"an empty file":                   {[]health.Component{{Name: "a", File: "a.yaml"}}, nil, check.Failed, []string{"component a: a.yaml: no test in the file"}},
		"a file with a script operation":  {[]health.Component{component("a", "script: {content: rm}")}, nil, check.Failed, []string{"component a: checks/a/health-check.yaml:9:7: unsupported operation script in step step-of-0"}},
		"some of those that are selected": {[]health.Component{component("a", "assert: "+fmt.Sprintf(pods, "Running"))}, []string{pod("p", "Running"), pod("q", "Failed")}, check.Failed, []string{"Pod ns/q: component a, step step-of-0 (checks/a/health-check.yaml:9:7): status.phase: Invalid value: \"Failed\": Expected value: \"Running\""}},
		"all of those that are selected":  {[]health.Component{component("a", "assert: "+fmt.Sprintf(pods, "Running"))}, []string{pod("p", "Running"), pod("q", "Running")}, check.Passed, nil},
		"none is selected":                {[]health.Component{component("a", "assert: "+fmt.Sprintf(pods, "Running"))}, nil, check.Failed, []string{"Pod ns/* app=x: component a, step step-of-0 (checks/a/health-check.yaml:9:7): not found"}},
		"an object that must not exist":   {[]health.Component{component("a", "error: "+fmt.Sprintf(pods, "Failed"))}, []string{pod("p", "Running"), pod("q", "Failed")}, check.Failed, []string{"Pod ns/q: component a, step step-of-0 (checks/a/health-check.yaml:9:7): exists and must not exist"}},
		"only an assertion of absence":    {[]health.Component{component("a", "error: "+fmt.Sprintf(pods, "Failed"))}, nil, check.Failed, []string{"component a: checks/a/health-check.yaml matched no object"}},
		"a kind that is not served":       {[]health.Component{component("a", "assert: {resource: {apiVersion: x/v1, kind: Thing, metadata: {name: t}}}")}, nil, check.Failed, []string{"Thing t: component a, step step-of-0 (checks/a/health-check.yaml:9:7): the API server does not serve Thing of x/v1"}},
		"an expression that is not so":    {[]health.Component{component("a", available("one"), "assert: {resource: {(length('a')): 2}}")}, []string{deployment("one", 2)}, check.Failed, []string{"expressions: component a, step step-of-1 (checks/a/health-check.yaml:12:7): (length('a')): Invalid value: 1: Expected value: 2"}},
		"an expression without an answer": {[]health.Component{component("a", "assert: {resource: {($x): 2}}")}, nil, check.Failed, []string{"expressions: component a"}},
		"an error of an expression":       {[]health.Component{component("a", available("one"), "error: {resource: {(length('a')): 1}}")}, []string{deployment("one", 2)}, check.Failed, []string{"expressions: component a, step step-of-1 (checks/a/health-check.yaml:12:7): the expression holds and must not hold"}},
		"a namespace from the component": {
			[]health.Component{{Name: "a", Namespace: "ns", File: "a.yaml", Asserts: asserts("assert: {resource: {apiVersion: v1, kind: Pod, metadata: {name: p}, status: {phase: Running}}}")}},
			[]string{pod("p", "Running")}, check.Passed, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := health.New(tt.components, given(clusterOf(t, tt.objects...)), health.Options{Timeout: quickly, Interval: quickly / 5})
			obs := observe(t, c)
			j := health.New(tt.components, health.Deps{}, health.Options{}).Judge(obs) // as a replay does
			wants(t, j, tt.want, tt.says)
			for _, f := range j.Findings {
				if strings.HasPrefix(f.Message, "component ") && len(f.Observations) != 1 {
					t.Errorf("without evidence: %+v", f)
				}
			}
		})
	}
}

func wants(t *testing.T, j check.Judgement, want check.Verdict, says []string) {
	t.Helper()
	if j.Verdict != want || j.Reason == "" || len(says) > 0 && len(j.Findings) != len(says) {
		t.Errorf("%s: %s\n%+v", j.Verdict, j.Reason, j.Findings)
	}
	for _, text := range says {
		if !slices.ContainsFunc(j.Findings, func(f check.Finding) bool {
			return strings.Contains(f.Suspect+": "+f.Message, text) && f.Remedy != ""
		}) {
			t.Errorf("nothing says %q:\n%+v", text, j.Findings)
		}
	}
}

// A read that the API server rejects is unobserved.
func TestUnseen(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err    error
		remedy string
	}{
		"forbidden":                       {apierrors.NewForbidden(schema.GroupResource{Resource: "deployments"}, "one", errors.New("no")), "permissions"},
		"unreachable":                     {errors.New("connection refused"), "reachable"},
		"a proxy's answer: it forbids it": {errors.New("proxy: forbidden"), "reachable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := clusterOf(t)
			cluster.Dynamic.(*dynamicfake.FakeDynamicClient).PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, tt.err })
			components := []health.Component{component("a", available("one"))}
			c := health.New(components, given(cluster), health.Options{Timeout: quickly, Interval: quickly / 5})
			j := c.Judge(observe(t, c))
			wants(t, j, check.Unobserved, []string{"Deployment ns/one: component a, step step-of-0 (checks/a/health-check.yaml:9:7) could not be observed"})
			if !strings.Contains(j.Findings[0].Remedy, tt.remedy) {
				t.Errorf("remedy %q", j.Findings[0].Remedy)
			}
		})
	}
}

// Every operation of every component must have been observed, once, by this file.
func TestObservationsAreComplete(t *testing.T) {
	t.Parallel()
	components := []health.Component{component("a", available("one"), available("two")), component("b", available("three"))}
	c := health.New(components, given(clusterOf(t, deployment("one", 2), deployment("two", 2), deployment("three", 2))), health.Options{})
	obs := observe(t, c)
	if len(obs) != 3 || c.Judge(obs).Verdict != check.Passed {
		t.Fatalf("%d observations: %+v", len(obs), c.Judge(obs))
	}
	broken := slices.Clone(obs)
	broken[1].Figures = json.RawMessage(`{"looks": "x"}`)
	lost := slices.Clone(obs)
	lost[2].Err = "the connection was lost"
	for name, tt := range map[string]struct {
		check *health.Check
		obs   []check.Observation
	}{
		"none":                   {c, nil},
		"one is missing":         {c, obs[1:]},
		"one exists twice":       {c, append(slices.Clone(obs), obs[0])},
		"one is invalid":         {c, broken},
		"one has an error":       {c, lost},
		"of another file":        {health.New([]health.Component{component("a", available("one"), available("other")), components[1]}, health.Deps{}, health.Options{}), obs},
		"of another recipe":      {health.New(components[:1], health.Deps{}, health.Options{}), obs},
		"of a component renamed": {health.New([]health.Component{components[0], {Name: "c", File: components[1].File, Asserts: components[1].Asserts}}, health.Deps{}, health.Options{}), obs},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if j := tt.check.Judge(tt.obs); j.Verdict != check.Unobserved || len(j.Findings) == 0 {
				t.Errorf("%+v", j)
			}
		})
	}
}

func TestObserveFailsWithoutACluster(t *testing.T) {
	t.Parallel()
	components := []health.Component{component("a", available("one"))}
	if err := health.New(components, health.Deps{}, health.Options{}).Observe(t.Context(), &notebook{}); err == nil {
		t.Error("no cluster was needed")
	}
	down := errors.New("it is down")
	deps := health.Deps{Cluster: func(context.Context) (*kube.Cluster, error) { return nil, down }}
	if err := health.New(components, deps, health.Options{}).Observe(t.Context(), &notebook{}); !errors.Is(err, down) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := health.New(components, given(clusterOf(t)), health.Options{}).Observe(ctx, &notebook{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	c := health.New([]health.Component{component("a", available("one"), available("two")), {Name: "b"}, {Name: "c", File: "c.yaml"}}, health.Deps{}, health.Options{})
	want := []string{"a: 2 assertions of checks/a/health-check.yaml", "b: has no assertions and fails", "c: c.yaml is invalid"}
	if got := c.Describe(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
