package assertion

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// podOf is a pod with a label and a phase.
func podOf(name, app, phase string) string {
	return fmt.Sprintf("{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: ns, labels: {app: %s}}, status: {phase: %s}}", name, app, phase)
}

const running = "{apiVersion: v1, kind: Pod, metadata: {namespace: ns, labels: {app: a}}, status: {phase: Running}}"

// look evaluates an operation on a cluster, and requires the same outcome from the stored
// objects.
func look(t *testing.T, op *Operation, cluster Cluster, rule Rule) Outcome {
	t.Helper()
	r := Runner{Cluster: cluster, Rule: rule}.defaults()
	out, err := r.operation(t.Context(), op, [levels]*source{r.source(t.Context()), r.source(t.Context()), r.source(t.Context())}, false)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := utiljson.Marshal(out.Seen)
	if err != nil {
		t.Fatal(err)
	}
	var seen Seen
	if err := utiljson.Unmarshal(stored, &seen); err != nil {
		t.Fatal(err)
	}
	if first, again := fmt.Sprintf("%+v", out.Result), fmt.Sprintf("%+v", op.Evaluate(seen, rule)); first != again {
		t.Errorf("stored and judged again it is\n%s\nwas\n%s", again, first)
	}
	return out
}

func TestHowManyHaveToHold(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		operation     string
		objects       []string
		chainsaw, all bool
	}{
		"all of two":                      {"assert: {resource: " + running + "}", []string{podOf("x", "a", "Running"), podOf("y", "a", "Running")}, true, true},
		"one of two is enough for some":   {"assert: {resource: " + running + "}", []string{podOf("x", "a", "Running"), podOf("y", "a", "Failed")}, true, false},
		"the other of two":                {"assert: {resource: " + running + "}", []string{podOf("x", "a", "Failed"), podOf("y", "a", "Running")}, true, false},
		"none of two":                     {"assert: {resource: " + running + "}", []string{podOf("x", "a", "Failed"), podOf("y", "a", "Failed")}, false, false},
		"others are not selected":         {"assert: {resource: " + running + "}", []string{podOf("x", "a", "Running"), podOf("y", "b", "Failed")}, true, true},
		"zero objects never pass":         {"assert: {resource: " + running + "}", []string{podOf("y", "b", "Running")}, false, false},
		"by name":                         {"assert: {resource: " + strings.Replace(running, "{namespace", "{name: x, namespace", 1) + "}", []string{podOf("x", "a", "Running"), podOf("y", "a", "Failed")}, true, true},
		"by name, and not there":          {"assert: {resource: " + strings.Replace(running, "{namespace", "{name: z, namespace", 1) + "}", []string{podOf("x", "a", "Running")}, false, false},
		"labels that are expressions":     {"assert: {resource: {apiVersion: v1, kind: Pod, metadata: {namespace: ns, labels: {app: {\"(starts_with(@, 'a'))\": true}}}, status: {phase: Running}}}", []string{podOf("x", "ab", "Running"), podOf("y", "b", "Failed")}, true, true},
		"and all that they select":        {"assert: {resource: {apiVersion: v1, kind: Pod, metadata: {namespace: ns, labels: {app: {\"(starts_with(@, 'a'))\": true}}}, status: {phase: Running}}}", []string{podOf("x", "ab", "Running"), podOf("y", "ac", "Failed")}, true, false},
		"and none that they select":       {"assert: {resource: {apiVersion: v1, kind: Pod, metadata: {namespace: ns, labels: {app: {\"(starts_with(@, 'c'))\": true}}}, status: {phase: Running}}}", []string{podOf("x", "ab", "Running")}, false, false},
		"no object is an error that held": {"error: {resource: " + running + "}", nil, true, true},
		"an error that one matches":       {"error: {resource: " + running + "}", []string{podOf("x", "a", "Failed"), podOf("y", "a", "Running")}, false, false},
		"an error without a match":        {"error: {resource: " + running + "}", []string{podOf("x", "a", "Failed")}, true, true},
		"an unknown kind":                 {"assert: {resource: {apiVersion: x/v1, kind: Thing, metadata: {name: x}}}", nil, false, false},
		"no error of an unknown kind":     {"error: {resource: {apiVersion: x/v1, kind: Thing, metadata: {name: x}}}", nil, false, false},
		"a kind without namespaces":       {"assert: {resource: {apiVersion: v1, kind: Node, metadata: {name: node}}}", []string{oneNode}, true, true},
		"no namespace":                    {"error: {resource: {apiVersion: v1, kind: Pod, metadata: {name: x}}}", nil, false, false},
		"an expression":                   {"assert: {resource: {(length('abc')): 3}}", nil, true, true},
		"an expression that is not so":    {"assert: {resource: {(length('abc')): 4}}", nil, false, false},
		"an error of an expression":       {"error: {resource: {(length('abc')): 4}}", nil, true, true},
		"an expression without an answer": {"assert: {resource: {($nothing): 4}}", nil, false, false},
		"chance":                          {"error: {resource: {\"(random('[a-z]'))\": x}}", nil, false, false},
		"the environment":                 {"error: {resource: {(env('PATH')): x}}", nil, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			op := load(t, one(tt.operation), Options{})[0].Operations()[0]
			for rule, want := range map[Rule]bool{Chainsaw: tt.chainsaw, All: tt.all} {
				out := look(t, op, objects(t, tt.objects...), rule)
				if out.Result.Holds != want || out.Result.Unseen {
					t.Errorf("rule %d: want %t, got %+v", rule, want, out.Result)
				}
			}
		})
	}
}

func TestOptionsNamespaceIsTheTests(t *testing.T) {
	t.Parallel()
	const text = "assert: {resource: {apiVersion: v1, kind: Pod, metadata: {name: x}, status: {phase: Running}}}"
	cluster := objects(t, podOf("x", "a", "Running"))
	if out := look(t, load(t, one(text), Options{Namespace: "ns"})[0].Operations()[0], cluster, All); !out.Result.Holds {
		t.Error(out.Result)
	}
	if out := look(t, load(t, one(text), Options{Namespace: "other"})[0].Operations()[0], cluster, All); out.Result.Holds {
		t.Error(out.Result)
	}
	own := strings.Replace(one(text), "spec:\n", "spec:\n  namespace: ns\n", 1)
	if out := look(t, load(t, own, Options{Namespace: "other"})[0].Operations()[0], cluster, All); !out.Result.Holds {
		t.Error(out.Result)
	}
}

// Reads of expressions from the cluster, and the time, are stored and replayed.
func TestReadsOfExpressionsAreRecorded(t *testing.T) {
	t.Parallel()
	text := begin + `spec:
  bindings:
  - name: pods
    value: (x_k8s_list($client, 'v1', 'Pod', 'ns').items)
  - name: now
    value: (time_now_utc())
  steps:
  - bindings:
    - {name: version, value: (x_k8s_server_version($config).gitVersion)}
    try:
    - assert:
        bindings:
        - {name: dns, value: "(x_k8s_get($client, 'apps/v1', 'Deployment', 'kube-system', 'coredns'))"}
        resource:
          (length($pods)): 2
          ($version): v1.36.3
          ($dns.metadata.name): coredns
          (x_k8s_exists($client, 'v1', 'Pod', 'ns', 'x')): true
          (x_k8s_exists($client, 'v1', 'Pod', 'ns', 'z')): false
          (x_k8s_resource_exists($client, 'x/v1', 'Thing')): false
          (time_diff($now, time_now_utc()) == '0s' || time_diff($now, time_now_utc()) == '1s'): true
          (time_since('', $now, '') != ''): true
`
	op := load(t, text, Options{})[0].Operations()[0]
	out := look(t, op, objects(t, kubeDNS, podOf("x", "a", "Running"), podOf("y", "a", "Running")), All)
	if !out.Result.Holds {
		t.Errorf("%+v", out.Result)
	}
	if out := look(t, op, objects(t, kubeDNS, podOf("x", "a", "Running")), All); out.Result.Holds {
		t.Error("one pod is not two")
	}
	late := out.Seen
	late[levelLook].At = late[levelLook].At.Add(time.Hour)
	if op.Evaluate(late, All).Holds {
		t.Error("the time is not the one that was seen")
	}
	missing := out.Seen
	missing[levelTest].Reads = nil
	if r := op.Evaluate(missing, All); r.Holds || !strings.Contains(r.Wrong, "was not read") {
		t.Errorf("%+v", r)
	}
}

// Keys of a Secret are seen, its values never are.
func TestValuesOfSecretsAreNotRecorded(t *testing.T) {
	t.Parallel()
	secret := `{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns, labels: {a: b}, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"data":{"key":"aHVudGVyMg=="}}'}}, data: {key: aHVudGVyMg==}, stringData: {other: hunter2}}`
	op := load(t, one("assert: {resource: {apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}, \"(contains(keys(data), 'key'))\": true, data: {key: wrong}}}"), Options{})[0].Operations()[0]
	out := look(t, op, objects(t, secret), All)
	stored, err := utiljson.Marshal([]any{out.Seen, out.Result})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(stored), "hunter2") || strings.Contains(string(stored), "aHVudGVyMg") {
		t.Errorf("%s", stored)
	}
	if len(out.Result.Objects) != 1 || len(out.Result.Objects[0].Fields) != 1 || out.Result.Objects[0].Fields[0].Path != "data.key" {
		t.Errorf("%+v", out.Result)
	}
}

// A failed request to the API server is unobserved; a missing object is a failure.
func TestUnseen(t *testing.T) {
	t.Parallel()
	resource := schema.GroupResource{Resource: "pods"}
	for name, tt := range map[string]struct {
		err  error
		want bool
	}{
		"unreachable": {errors.New("connection refused"), true},
		"forbidden":   {apierrors.NewForbidden(resource, "x", errors.New("no")), true},
		"overloaded":  {apierrors.NewTooManyRequests("later", 1), true},
		"not found":   {apierrors.NewNotFound(resource, "x"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			op := load(t, one("assert: {resource: "+pod+"}"), Options{})[0].Operations()[0]
			if out := look(t, op, &shelf{broken: tt.err}, All); out.Result.Unseen != tt.want || out.Result.Holds {
				t.Errorf("%+v", out.Result)
			}
		})
	}
}

// A finding shows what a person would look up next.
func TestFieldsShowValues(t *testing.T) {
	t.Parallel()
	op := load(t, one("assert: {resource: {apiVersion: v1, kind: Pod, metadata: {name: x, namespace: ns}, (status.ready == spec.want): true, spec: {want: 3}, (length(spec.list) > `9`): true}}"), Options{})[0].Operations()[0]
	out := look(t, op, objects(t, "{apiVersion: v1, kind: Pod, metadata: {name: x, namespace: ns}, spec: {want: 2, list: [1]}}"), All)
	var got []string
	for _, f := range out.Result.Objects[0].Fields {
		got = append(got, f.String()+"; "+strings.Join(f.Values, ", "))
	}
	want := []string{
		"(length(spec.list) > `9`): Invalid value: false: Expected value: true; spec.list is [1]",
		"(status.ready == spec.want): Invalid value: false: Expected value: true; status.ready is absent, spec.want is 2",
		"spec.want: Invalid value: 2: Expected value: 3; ",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}
