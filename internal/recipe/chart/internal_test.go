package chart

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/model"
)

func TestScrub(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"get https://me:secret@host/a?sig=secret#secret: refused": "get https://host/a: refused",
		`Get "http://u:secret@proxy:8080": proxyconnect`:          `Get "http://proxy:8080": proxyconnect`,
		"oci://u:secret%zz@host/x: bad":                           "oci://(address): bad",
		"one\n  two\tthree":                                       "one two three",
		"nothing to hide":                                         "nothing to hide",
	} {
		if got := redact(errors.New(in)); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	if got := redact(errors.New(strings.Repeat("é", 1000))); len(got) > maxReason+4 || !strings.HasSuffix(got, "...") {
		t.Errorf("%d bytes", len(got))
	}
}

// Of each kind that makes pods the right ones count; others make none.
func TestWorkloads(t *testing.T) {
	t.Parallel()
	declared := &footprint.Footprint{Footprint: &model.Footprint{Spec: model.FootprintSpec{WithoutPods: []string{"Declared"}}}}
	const spec = `"template":{"spec":{"containers":[{"name":"c"}]}}`
	for in, want := range map[string]string{
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{` + spec + `}}`:                                                "Deployment a 1",
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"replicas":0,` + spec + `}}`:                                   "",
		`{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"a"},"spec":{"replicas":2,` + spec + `}}`:                                   "Deployment a 2",
		`{"apiVersion":"v1","kind":"ReplicationController","metadata":{"name":"a"},"spec":{` + spec + `}}`:                                          "Deployment a 1",
		`{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"a"},"spec":{"replicas":3,` + spec + `}}`:                                  "StatefulSet a 3",
		`{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"a"},"spec":{` + spec + `}}`:                                                 "DaemonSet a 0",
		`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a"},"spec":{"parallelism":4,"completions":2,` + spec + `}}`:                      "Job a 2",
		`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a"},"spec":{"suspend":true,` + spec + `}}`:                                       "",
		`{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"a"},"spec":{"jobTemplate":{"spec":{"parallelism":3,` + spec + `}}}}`:         "Job a 3",
		`{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"a"},"spec":{"suspend":true,"jobTemplate":{"spec":{` + spec + `}}}}`:          "",
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[]}}`:                                                         "Job a 1",
		`{"apiVersion":"apps/v1","kind":"DeploymentList","items":[{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"b"},"spec":{}}]}`: "Deployment b 1",
		`{"apiVersion":"v1","kind":"List","items":[]}`:                                                                                              "",
		`{"apiVersion":"other.io/v1","kind":"Job","metadata":{"name":"a"}}`:                                                                         "",
		`{"apiVersion":"other.io/v1","kind":"ThingList","items":5}`:                                                                                 "",
		`{"apiVersion":"other.io/v1","kind":"Job","metadata":{"name":"a"},"spec":{` + spec + `}}`:                                                   "error",
		`{"apiVersion":"other.io/v1","kind":"Set","spec":{"jobTemplate":{"spec":{` + spec + `}}}}`:                                                  "error",
		`{"apiVersion":"other.io/v1","kind":"Set","spec":{"replicatedJobs":[{"template":{"spec":{` + spec + `}}}]}}`:                                "error",
		`{"apiVersion":"other.io/v1","kind":"SetList","items":[{"spec":{` + spec + `}}]}`:                                                           "error",
		`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"other.io/v1","kind":"Set","spec":{` + spec + `}}]}`:                               "error",
		`{"apiVersion":"other.io/v1","kind":"Declared","spec":{` + spec + `}}`:                                                                      "",
		`{"apiVersion":"v1","kind":"PodTemplate",` + spec + `}`:                                                                                     "",
		`{"apiVersion":"v1","kind":"Service"}`:                                                                                                      "",
		`{"apiVersion":"apps/v1beta2","kind":"Deployment","metadata":{"name":"a"}}`:                                                                 "error",
		`{"apiVersion":"batch/v1beta1","kind":"CronJob","metadata":{"name":"a"}}`:                                                                   "error",
		`{"apiVersion":"v1","kind":"List","items":{}}`:                                                                                              "error",
		`[]`: "error",
	} {
		o := object{source: "x.yaml", json: []byte(in)}
		found, err := o.workloads(declared)
		var got []string
		for _, w := range found {
			got = append(got, w.kind+" "+w.name+" "+string('0'+w.replicas))
		}
		text := strings.Join(got, ", ")
		if err != nil {
			text = "error"
			if !strings.HasPrefix(err.Error(), "x.yaml: ") {
				t.Errorf("%v does not name its template", err)
			}
		}
		if text != want {
			t.Errorf("%s makes %q (%v), want %q", in, text, err, want)
		}
	}
}

// For any rendered output, reading terminates, and a written lock is read back unchanged.
func FuzzFacts(f *testing.F) {
	f.Add([]byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"replicas":2,"template":{"metadata":{"labels":{"on":"1.0"}},"spec":{"nodeSelector":{"a":"true"},"tolerations":[{"operator":"Exists","tolerationSeconds":300}],"initContainers":[{"restartPolicy":"Always","resources":{"limits":{"cpu":"0.5"}},"ports":[{"hostPort":5}]}],"containers":[{"resources":{"requests":{"memory":"1e3","cpu":"1500m"}}}],"overhead":{"cpu":"1"},"affinity":{"podAffinity":{}},"resources":{"limits":{"cpu":"3"}}}}}}`))
	f.Add([]byte(`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"-","labels":{"":"\n"}},"spec":{"hostNetwork":true,"containers":[{"ports":[{"containerPort":-1}]}]}}]}`))
	f.Add([]byte(`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"é"},"spec":{"parallelism":-2147483648,"template":{"spec":{"topologySpreadConstraints":[{"maxSkew":2147483647,"labelSelector":{}}]}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) {
			return
		}
		first, err := lock(nil, []object{{json: data}})
		if err != nil || len(first) == 0 {
			return
		}
		renders := []model.FootprintRender{{Values: "00", Workloads: first}}
		text, err := rendersText(renders, 2)
		if err != nil {
			t.Fatal(err)
		}
		file := "apiVersion: firstlight/v1\nkind: Footprint\nmetadata: {name: a}\nspec:\n  chart: {repository: r, name: n, version: v1}\n  source: documented\n  workloads: []\n"
		out, err := withLock("a.yaml", []byte(file), change{version: "v1", digest: "d", renders: renders})
		if err != nil {
			if printable(first) {
				t.Fatalf("%v\n%s", err, text)
			}
			return
		}
		again, err := withLock("a.yaml", out, change{version: "v1", digest: "d", renders: renders})
		if err != nil || !reflect.DeepEqual(again, out) {
			t.Fatalf("a second edit: %v\n%s\n%s", err, out, again)
		}
	})
}

// printable says whether every name could be one in Kubernetes: others are refused by
// the strict reader, and need not be written.
func printable(list []model.RenderedWorkload) bool {
	data, err := json.Marshal(list)
	return err == nil && !strings.ContainsFunc(string(data), func(r rune) bool { return r < ' ' || r > '~' || r == '\\' }) && !strings.Contains(string(data), `""`)
}
