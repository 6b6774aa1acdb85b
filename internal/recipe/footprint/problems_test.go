package footprint_test

import (
	"strings"
	"testing"
)

const goodFootprint = chart + `  namespace: things
  defaults:
    replicas: 1
    on: true
    nodeSelector: {role: system}
    tolerations: []
    resources: {requests: {cpu: 100m}}
  workloads:
    - kind: Deployment
      name: w
      class: system
      when: [on]
      pod:
        requests: {cpu: 10m}
        tolerations: [{key: a, operator: Exists}]
      valuesFrom:
        replicas: replicas
        nodeSelector: nodeSelector
        affinity: affinity
        tolerations: tolerations
        topologySpreadConstraints: spread
        resources: resources
        priorityClassName: priority
  publishes:
    - {onNodesWith: {a: b}, labels: {c: d}}
`

func TestTheGoodFootprintIsGood(t *testing.T) {
	t.Parallel()
	if components, problems := made(t, tiny(goodFootprint, "{}", nil)); len(problems) > 0 || len(components[0].Workloads) != 1 {
		t.Error(components, problems)
	}
}

// Defects of a single footprint are reported with their positions.
func TestProblemsOfFootprints(t *testing.T) {
	t.Parallel()
	const file = "footprints/thing.yaml:"
	tests := []struct{ name, old, with, want, part string }{
		{"typo in a key", "namespace: things", "nameSpace: things", "7:3 unknown-key", "nameSpace"},
		{"chart and kustomize", "namespace: things", "kustomize: {source: s, tag: t}", "7:14 footprint-shape", "exclude each other"},
		{"rendered without a chart", chart, "  kustomize: {source: s, tag: t}\n  source: rendered\n", "6:11 footprint-shape", "chart is missing"},
		{"documented with renders", "namespace: things", "renders: [{values: a, workloads: []}]", "7:12 footprint-shape", "renders is ignored"},
		{"source", "source: documented", "source: guessed", "6:11 bad-value", "rendered, documented"},
		{"no workloads", goodFootprint, chart, "5:3 missing", "workloads"},
		{"kind", "kind: Deployment", "kind: ReplicaSet", "15:13 bad-value", "ReplicaSet"},
		{"name", "name: w", "name: W_1", "16:13 pod-field", "invalid name"},
		{"class", "class: system", "class: gpu", "17:14 bad-value", "system, accelerated, any"},
		{"no class", "      class: system\n", "", "15:7 missing", "class"},
		{"replicas of a DaemonSet", "kind: Deployment", "kind: DaemonSet", "15:7 footprint-shape", "must not set replicas"},
		{"no replicas", "class: system", "class: system\n      replicas: 0", "18:17 replicas", "invalid replicas 0"},
		{"fewer than no replicas", "class: system", "class: system\n      replicas: -1", "18:17 replicas", "invalid replicas -1"},
		{"a condition", "when: [on]", "when: ['a..b']", "18:14 footprint-shape", "a..b"},
		{"a condition of nothing", "when: [on]", "when: ['!']", "18:14 footprint-shape", "must select one value"},
		{"a condition on a manifest", "when: [on]", "whenManifest: {kind: P, path: a.*}", "18:37 footprint-shape", "must select one value"},
		{"a field", "replicas: replicas", "replica: replicas", "23:18 footprint-shape", "replica"},
		{"a rule that is a number", "replicas: replicas", "replicas: 3", "23:19 footprint-shape", "the number 3"},
		{"a rule of nothing", "replicas: replicas", "replicas: []", "23:19 footprint-shape", "must be a list of value paths"},
		{"firstOf of nothing", "replicas: replicas", "replicas: {firstOf: a}", "23:29 footprint-shape", "must be a list of value paths"},
		{"no firstOf", "replicas: replicas", "replicas: {anyOf: [a]}", "23:27 footprint-shape", "anyOf"},
		{"an entry of firstOf", "replicas: replicas", "replicas: {firstOf: [a, 3]}", "23:33 footprint-shape", "the number 3"},
		{"replicas do not add up", "replicas: replicas", "replicas: [a, b]", "23:19 footprint-shape", "cannot be combined"},
		{"a label", "requests: {cpu: 10m}", "labels: {a/b/c: d}", "20:25 pod-field", "a/b/c"},
		{"a selector", "requests: {cpu: 10m}", "nodeSelector: {a: b c}", "20:27 pod-field", "b c"},
		{"a quantity", "{cpu: 10m}", "{cpu: ten}", "20:25 pod-field", "ten"},
		{"less than nothing", "{cpu: 10m}", "{cpu: -1}", "20:25 pod-field", "-1"},
		{"a quantity that is a block", "{cpu: 10m}", "{cpu: {}}", "20:25 pod-field", "must be a quantity"},
		{"no resource", "{cpu: 10m}", "{cpus: 10m}", "20:26 pod-field", "invalid resource"},
		{"typo in a toleration", "{key: a, operator: Exists}", "{keyy: a, operator: Exists}", "21:30 pod-field", "keyy"},
		{"a key in capitals", "{key: a, operator: Exists}", "{Key: a, operator: Exists}", "21:29 pod-field", "Key"},
		{"an operator", "operator: Exists", "operator: Exist", "21:42 pod-field", "invalid operator"},
		{"an effect", "operator: Exists", "operator: Exists, effect: NoShedule", "21:58 pod-field", "invalid effect"},
		{"a value that nothing is compared with", "operator: Exists", "operator: Exists, value: b", "21:57 pod-field", "value must be empty"},
		{"a toleration of nothing", "{key: a, operator: Exists}", "{effect: NoSchedule}", "21:23 pod-field", "requires operator: Exists"},
		{"a toleration's key", "{key: a, operator: Exists}", "{key: a b, operator: Exists}", "21:29 pod-field", "invalid taint key"},
		{"seconds", "operator: Exists", "operator: Exists, tolerationSeconds: 3", "21:69 pod-field", "requires effect: NoExecute"},
		{"an affinity", "requests: {cpu: 10m}", "affinity: {nodeAffinity: {required: []}}", "20:45 pod-field", "nodeAffinity.required"},
		{"no terms", "requests: {cpu: 10m}", "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}", "20:103 pod-field", "nodeSelectorTerms is empty"},
		{"an operator of nodes", "requests: {cpu: 10m}", "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Equals, values: [b]}]}]}}}", "20:143 pod-field", "invalid operator"},
		{"values of nothing", "requests: {cpu: 10m}", "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In}]}]}}}", "20:124 pod-field", "values"},
		{"a weight", "requests: {cpu: 10m}", "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0, preference: {}}]}}", "20:94 pod-field", "from 1 to 100"},
		{"a topology", "requests: {cpu: 10m}", "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {}}]}}", "20:83 pod-field", "must be a label key"},
		{"a selector of pods", "requests: {cpu: 10m}", "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, labelSelector: {matchExpressions: [{key: a, operator: Gt, values: [b]}]}}]}}", "20:119 pod-field", "Gt"},
		{"skew", "requests: {cpu: 10m}", "topologySpreadConstraints: [{maxSkew: 0, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]", "20:47 pod-field", "at least 1"},
		{"when unsatisfiable", "requests: {cpu: 10m}", "topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: Never}]", "20:85 pod-field", "must be DoNotSchedule or ScheduleAnyway"},
		{"a resource that it brings", "when: [on]", "brings: [gpu]", "18:16 pod-field", "invalid extended resource"},
		{"a port", "requests: {cpu: 10m}", "hostPorts: [70000]", "20:21 pod-field", "invalid port"},
		{"a published label", "labels: {c: d}", "labels: {c: -d}", "31:41 pod-field", "-d"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(goodFootprint, tt.old) {
				t.Fatalf("%q is not in the good footprint", tt.old)
			}
			_, problems := made(t, tiny(strings.Replace(goodFootprint, tt.old, tt.with, 1), "{}", nil))
			told(t, problems, file+tt.want, tt.part)
		})
	}
}

// A defect of a recipe's values is reported at the position where the value is set.
func TestProblemsOfValues(t *testing.T) {
	t.Parallel()
	const file, overlay = "components/thing/values.yaml:", "overlays/eks.yaml:"
	tests := []struct{ name, values, override, want, part string }{
		{"a text for a number", "replicas: two", "", file + "1:11 footprint-value", "must be an integer, not the string"},
		{"half a pod", "replicas: 1.5", "", file + "1:11 footprint-value", "the number 1.5"},
		{"no replicas", "replicas: 0", "", file + "1:11 replicas", "invalid replicas 0"},
		{"a text for a truth value", "on: 'yes'", "", file + "1:5 footprint-value", "must be true or false, not"},
		{"a list for a block", "nodeSelector: [role]", "", file + "1:15 footprint-value", "must be a mapping, not"},
		{"a truth value for a text", "nodeSelector: {gpu: true}", "", file + "1:21 footprint-value", "a quoted string"},
		{"a number for a text", "priority: 3", "", file + "1:11 footprint-value", "must be a string, not"},
		{"a block for a list", "tolerations: {key: a}", "", file + "1:14 footprint-value", "must be a list, not"},
		{"typo in a toleration", "tolerations: [{key: a, operator: Exists}, {key: b, efect: NoSchedule}]", "", file + "1:59 pod-field", "efect"},
		{"typo in an affinity", "affinity: {nodeAffinty: {}}", "", file + "1:25 pod-field", "nodeAffinty"},
		{"a text for an affinity", "affinity: none", "", file + "1:11 footprint-value", "must be a mapping"},
		{"a text for a spread", "spread: none", "", file + "1:9 footprint-value", "must be a list, not"},
		{"a quantity", "resources: {requests: {cpu: 1 core}}", "", file + "1:29 pod-field", "1 core"},
		{"a quantity that is a list", "resources: {requests: {cpu: [1]}}", "", file + "1:29 footprint-value", "must be a quantity"},
		{"no resource", "resources: {requests: {memroy: 1Gi}}", "", file + "1:32 pod-field", "memroy"},
		{"typo in resources", "resources: {request: {cpu: 1}}", "", file + "1:22 pod-field", "request"},
		{"more than the limit", "resources: {requests: {memory: 2Gi}, limits: {memory: 1Gi}}", "", file + "1:32 pod-field", "the request for memory (2Gi) exceeds the limit (1Gi)"},
		{"a label that no node can have", "nodeSelector: {role: for system}", "", file + "1:22 pod-field", "for system"},
		{"of an overlay", "{}", "replicas: 0", overlay + "6:55 replicas", "invalid replicas 0"},
		{"of an overlay, over values", "replicas: 2", "replicas: -1", overlay + "6:55 replicas", "invalid replicas -1"},
		{"in a list of an overlay", "tolerations: []", "tolerations: [{key: a}, {operator: Never}]", overlay + "6:80 pod-field", "Never"},
		{"below a text", "resources: big", "", file + "1:12 footprint-value", "must be a mapping, not"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			if tt.override != "" {
				files["overlays/eks.yaml"] = "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: eks}\nspec:\n  criteria: {service: eks}\n  componentRefs: [{name: thing, overrides: {" + tt.override + "}}]\n"
			}
			_, problems := made(t, tiny(goodFootprint, tt.values, files))
			told(t, problems, tt.want, tt.part)
		})
	}
}
