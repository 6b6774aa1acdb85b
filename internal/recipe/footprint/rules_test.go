package footprint_test

import "testing"

// Every rule of valuesFrom, in every form.
func TestRules(t *testing.T) {
	t.Parallel()
	const head = `{"kind":"Deployment","name":"w","namespace":"things","class":"system",`
	tests := []struct{ name, defaults, workload, values, want string }{
		{"nothing", "{}", "{}", "{}", `"replicas":1,"pod":{}}`},
		{"replicas that the entry has", "{}", "{replicas: 3}", "{}", `"replicas":3,"pod":{}}`},
		{"replicas of the chart", "{n: 2}", "{valuesFrom: {replicas: n}}", "{}", `"replicas":2,"pod":{}}`},
		{"replicas of values", "{n: 2}", "{valuesFrom: {replicas: n}}", "{n: 4}", `"replicas":4,"pod":{}}`},
		{"replicas removed", "{n: 2}", "{replicas: 3, valuesFrom: {replicas: n}}", "{n: null}", `"replicas":3,"pod":{}}`},
		{"replicas, the first that there are", "{}", "{valuesFrom: {replicas: {firstOf: [a, b, c]}}}", "{a: 0, b: 5, c: 6}", `"replicas":5,"pod":{}}`},
		{"a list of one path", "{n: 2}", "{valuesFrom: {replicas: [n]}}", "{}", `"replicas":2,"pod":{}}`},
		{"texts replace", "{p: low}", "{pod: {priorityClassName: none}, valuesFrom: {priorityClassName: p, schedulerName: s}}", "{p: high, s: kai}", `"replicas":1,"pod":{"priorityClassName":"high","schedulerName":"kai"}}`},
		{"missing strings", "{}", "{pod: {priorityClassName: none}, valuesFrom: {priorityClassName: p}}", "{}", `"replicas":1,"pod":{"priorityClassName":"none"}}`},
		{"a truth value", "{h: false}", "{valuesFrom: {hostNetwork: h}}", "{h: true}", `"replicas":1,"pod":{"hostNetwork":true}}`},
		{"a truth value replaces", "{}", "{pod: {hostNetwork: true}, valuesFrom: {hostNetwork: h}}", "{h: false}", `"replicas":1,"pod":{}}`},
		{"ports are appended", "{}", "{pod: {hostPorts: [9100]}, valuesFrom: {hostPorts: ports}}", "{ports: [9101]}", `"replicas":1,"pod":{"hostPorts":[9100,9101]}}`},
		{"selectors are merged", "{s: {a: x, b: x}}", "{pod: {nodeSelector: {a: w, z: w}}, valuesFrom: {nodeSelector: s}}", "{s: {b: y, c: y}}", `"replicas":1,"pod":{"nodeSelector":{"a":"x","b":"y","c":"y","z":"w"}}}`},
		{"a key of a selector removed", "{s: {a: x, b: x}}", "{valuesFrom: {nodeSelector: s}}", "{s: {a: null}}", `"replicas":1,"pod":{"nodeSelector":{"b":"x"}}}`},
		{"a selector removed", "{s: {a: x, b: x}}", "{valuesFrom: {nodeSelector: s}}", "{s: null}", `"replicas":1,"pod":{}}`},
		{"selectors of several paths", "{}", "{valuesFrom: {nodeSelector: [s, u]}}", "{s: {a: s, b: s}, u: {b: u}}", `"replicas":1,"pod":{"nodeSelector":{"a":"s","b":"u"}}}`},
		{"labels are merged", "{}", "{pod: {labels: {app: w}}, valuesFrom: {labels: l}}", "{l: {team: x}}", `"replicas":1,"pod":{"labels":{"app":"w","team":"x"}}}`},
		{
			"tolerations are appended", "{t: [{key: a, operator: Exists}]}", "{pod: {tolerations: [{key: h, operator: Exists}]}, valuesFrom: {tolerations: t}}", "{}",
			`"replicas":1,"pod":{"tolerations":[{"key":"h","operator":"Exists"},{"key":"a","operator":"Exists"}]}}`,
		},
		{
			"lists of values replace those of the chart", "{t: [{key: a, operator: Exists}]}", "{valuesFrom: {tolerations: t}}", "{t: [{key: b, value: v, effect: NoSchedule}]}",
			`"replicas":1,"pod":{"tolerations":[{"key":"b","value":"v","effect":"NoSchedule"}]}}`,
		},
		{
			"tolerations of several paths", "{}", "{valuesFrom: {tolerations: [t, u]}}", "{t: [{key: a, operator: Exists}], u: [{operator: Exists}]}",
			`"replicas":1,"pod":{"tolerations":[{"key":"a","operator":"Exists"},{"operator":"Exists"}]}}`,
		},
		{
			"the first tolerations that there are", "{global: {t: []}, own: {t: [{key: a, operator: Exists}]}}", "{valuesFrom: {tolerations: {firstOf: [global.t, own.t]}}}", "{}",
			`"replicas":1,"pod":{"tolerations":[{"key":"a","operator":"Exists"}]}}`,
		},
		{
			"spread", "{}", "{valuesFrom: {topologySpreadConstraints: t}}", "{t: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}",
			`"replicas":1,"pod":{"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}]}}`,
		},
		{
			"affinity", "{}", "{valuesFrom: {affinity: a}}", "{a: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: host, labelSelector: {matchLabels: {app: w}}}]}}}",
			`"replicas":1,"pod":{"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchLabels":{"app":"w"}},"topologyKey":"host"}]}}}}`,
		},
		{
			"affinities are merged", "{}", "{pod: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: host}]}}}, valuesFrom: {affinity: [a, b]}}",
			"{a: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}, b: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone}]}}}",
			`"replicas":1,"pod":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}},` +
				`"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone"}]},"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"host"}]}}}}`,
		},
		{"an affinity of null", "{a: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}]}}}}", "{valuesFrom: {affinity: a}}", "{a: null}", `"replicas":1,"pod":{}}`},
		{"an empty affinity", "{a: {}}", "{valuesFrom: {affinity: a}}", "{}", `"replicas":1,"pod":{}}`},
		{"requests", "{r: {requests: {cpu: 100m}}}", "{valuesFrom: {resources: r}}", "{r: {requests: {memory: 1Gi}}}", `"replicas":1,"pod":{"requests":{"cpu":"100m","memory":"1Gi"}}}`},
		{"requests that are hard-coded", "{}", "{pod: {requests: {cpu: 0.5, memory: 64Mi}}}", "{}", `"replicas":1,"pod":{"requests":{"cpu":"500m","memory":"64Mi"}}}`},
		{"requests of other containers come on top", "{}", "{pod: {requests: {cpu: 10m, memory: 50Mi}}, valuesFrom: {resources: r}}", "{r: {requests: {cpu: 1, memory: 50Mi}}}", `"replicas":1,"pod":{"requests":{"cpu":"1010m","memory":"100Mi"}}}`},
		{"a limit is a request", "{}", "{valuesFrom: {resources: r}}", "{r: {limits: {cpu: 2, nvidia.com/gpu: 8}, requests: {cpu: 500m}}}", `"replicas":1,"pod":{"requests":{"cpu":"500m","nvidia.com/gpu":"8"}}}`},
		{"several containers", "{}", "{valuesFrom: {resources: [a, b, c]}}", "{a: {requests: {cpu: 100m}}, b: {limits: {cpu: 200m, memory: 1Gi}}}", `"replicas":1,"pod":{"requests":{"cpu":"300m","memory":"1Gi"}}}`},
		{"a request removed", "{r: {requests: {cpu: 100m, memory: 1Gi}}}", "{valuesFrom: {resources: r}}", "{r: {requests: {cpu: null}}}", `"replicas":1,"pod":{"requests":{"memory":"1Gi"}}}`},
		{"resources of nothing", "{r: {}}", "{valuesFrom: {resources: r}}", "{}", `"replicas":1,"pod":{}}`},
		{"a key with dots", "{}", `{valuesFrom: {priorityClassName: 'a["b.c"].d'}}`, "{a: {b.c: {d: high}}}", `"replicas":1,"pod":{"priorityClassName":"high"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := one(t, "  defaults: "+tt.defaults+"\n  workloads:\n    - <<: "+tt.workload+"\n      kind: Deployment\n      name: w\n      class: system\n", tt.values)
			if got != head+tt.want {
				t.Errorf("got  %s\nwant %s", got, head+tt.want)
			}
		})
	}
}

// The conditions that decide whether a recipe has a workload.
func TestConditions(t *testing.T) {
	t.Parallel()
	const manifest = "kind: Policy\nmetadata: {name: p}\nspec: {driver: {image: x}, empty: {}}\n"
	tests := []struct {
		name, entry, values string
		want                bool
	}{
		{"no condition", "{}", "{}", true},
		{"true by default", "{when: [on]}", "{}", true},
		{"false by values", "{when: [on]}", "{on: false}", false},
		{"removed", "{when: [on]}", "{on: null}", false},
		{"not there", "{when: [other]}", "{}", false},
		{"negated", "{when: ['!on']}", "{on: false}", true},
		{"negated, and true", "{when: ['!on']}", "{}", false},
		{"negated, and not there", "{when: ['!other']}", "{}", true},
		{"both", "{when: [on, a.b]}", "{a: {b: true}}", true},
		{"one of two", "{when: [on, a.b]}", "{a: {b: false}}", false},
		{"a manifest", "{whenManifest: {kind: Policy, path: spec.driver}}", "{}", true},
		{"nothing at the path", "{whenManifest: {kind: Policy, path: spec.other}}", "{}", false},
		{"something empty at the path", "{whenManifest: {kind: Policy, path: spec.empty}}", "{}", false},
		{"another kind", "{whenManifest: {kind: Polity, path: spec.driver}}", "{}", false},
		{"a manifest and a value", "{when: ['!on'], whenManifest: {kind: Policy, path: spec.driver}}", "{}", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			components, problems := made(t, tiny(chart+"  defaults: {on: true}\n  workloads:\n    - {kind: Deployment, name: always, class: system}\n    - <<: "+tt.entry+"\n      kind: Deployment\n      name: w\n      class: system\n", tt.values, map[string]string{
				"overlays/eks.yaml":                 "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: eks}\nspec:\n  criteria: {service: eks}\n  componentRefs: [{name: thing, manifestFiles: [components/thing/manifests/p.yaml]}]\n",
				"components/thing/manifests/p.yaml": "# a comment\n---\n" + manifest + "---\n",
			}))
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if got := len(components[0].Workloads) == 2; got != tt.want {
				t.Errorf("workload exists: %v", got)
			}
		})
	}
}
