package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/yaml"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// rulesOf reads the schema of a kind as the API server does.
func rulesOf(t *testing.T, kind string) *structuralschema.Structural {
	t.Helper()
	dec := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(crds), 4096)
	for {
		var crd apiextensionsv1.CustomResourceDefinition
		err := dec.Decode(&crd)
		if errors.Is(err, io.EOF) {
			t.Fatalf("there is no %s", kind)
		}
		if err != nil {
			t.Fatal(err)
		}
		if crd.Spec.Names.Kind != kind {
			continue
		}
		var props apiextensions.JSONSchemaProps
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, &props, nil); err != nil {
			t.Fatal(err)
		}
		s, err := structuralschema.NewStructural(&props)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// costLimit is what the API server allows a rule to cost at most (StaticEstimatedCostLimit).
const costLimit = 10_000_000

// The API server refuses definitions whose rules do not compile, or may cost too much.
func TestRulesCompileAndAreCheap(t *testing.T) {
	t.Parallel()
	rules := 0
	for _, kind := range []string{"Reservation", "HandOver", "ReservationHistory"} {
		root := rulesOf(t, kind)
		status, spec := root.Properties["status"], root.Properties["spec"]
		for i, s := range []*structuralschema.Structural{root, &status, &spec} {
			compiled, err := cel.Compile(s, model.SchemaDeclType(s, i == 0), celconfig.PerCallLimit, environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), cel.NewExpressionsEnvLoader())
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range compiled {
				rules++
				if c.Error != nil || c.MaxCost > costLimit {
					t.Errorf("%s: a rule costs %d: %v", kind, c.MaxCost, c.Error)
				}
			}
		}
	}
	if rules < 10 {
		t.Errorf("only %d rules", rules)
	}
}

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	whole(o)
	return o
}

// whole makes whole numbers what the API server decodes them to.
func whole(o map[string]any) {
	for k, v := range o {
		switch v := v.(type) {
		case float64:
			o[k] = int64(v)
		case map[string]any:
			whole(v)
		}
	}
}

const (
	metadata = `"apiVersion":"firstlight.dev/v1alpha1","metadata":{"name":"aws-h100"},"spec":{}`
	held     = `"state":"leased","token":7,"events":3,"waiting":0,"recent":["1 a","2 b","3 c"],"lease":{"id":"1","holder":"ada","token":7}`
	owned    = `"state":"leased","token":7,"events":3,"waiting":0,"recent":["1 a","2 b","3 c"],"lease":{"id":"1","holder":"ada","user":"ada@x","token":7}`
)

// A write without status took token, lease and history from a reservation that was held,
// and the next one that asked got it.
func TestWritesThatLoseSomethingAreRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		kind, old, updated, says string
	}{
		"status removed":                 {"Reservation", `"status":{` + held + `}`, ``, "the status is never removed"},
		"status emptied":                 {"Reservation", `"status":{` + held + `}`, `"status":{}`, "a token never goes back"},
		"token removed":                  {"Reservation", `"status":{` + held + `}`, `"status":{` + strings.Replace(held, `"token":7,`, "", 1) + `}`, "a token never goes back"},
		"token lower":                    {"Reservation", `"status":{` + held + `}`, `"status":{` + strings.ReplaceAll(held, `"token":7`, `"token":6`) + `}`, "a token never goes back"},
		"state removed":                  {"Reservation", `"status":{` + held + `}`, `"status":{` + strings.Replace(held, `"state":"leased",`, "", 1) + `}`, "the state is never removed"},
		"state removed with its lease":   {"Reservation", `"status":{` + held + `}`, `"status":{"token":7,"events":3,"recent":["1 a","2 b","3 c"]}`, "the state is never removed"},
		"events lower":                   {"Reservation", `"status":{` + held + `}`, `"status":{` + strings.Replace(held, `"events":3`, `"events":2`, 1) + `}`, "history is never lost"},
		"events removed":                 {"Reservation", `"status":{` + held + `}`, `"status":{` + strings.Replace(held, `"events":3,`, "", 1) + `}`, "history is never lost"},
		"lines removed":                  {"Reservation", `"status":{` + held + `}`, `"status":{` + strings.Replace(held, `"recent":["1 a","2 b","3 c"]`, `"recent":[]`, 1) + `}`, "history is never lost"},
		"lines gone":                     {"Reservation", `"status":{` + held + `}`, `"status":{` + strings.Replace(held, `"recent":["1 a","2 b","3 c"],`, ``, 1) + `}`, "history is never lost"},
		"lease ended without a line":     {"Reservation", `"status":{` + held + `}`, `"status":{"state":"free","token":7,"events":3,"recent":["1 a","2 b","3 c"]}`, "a lease ends with a line of history"},
		"lease given away":               {"Reservation", `"status":{` + held + `}`, `"status":{` + strings.Replace(held, `"ada"`, `"eve"`, 1) + `}`, "a token has one holder"},
		"user swapped":                   {"Reservation", `"status":{` + owned + `}`, `"status":{` + strings.Replace(owned, `"user":"ada@x"`, `"user":"eve@x"`, 1) + `}`, "a token has one holder"},
		"user removed":                   {"Reservation", `"status":{` + owned + `}`, `"status":{` + strings.Replace(owned, `"user":"ada@x",`, ``, 1) + `}`, "a token has one holder"},
		"ticket swapped":                 {"Reservation", `"status":{` + held + `}`, `"status":{` + strings.Replace(held, `"id":"1"`, `"id":"2"`, 1) + `}`, "a token has one holder"},
		"lease without a state":          {"Reservation", ``, `"status":{"token":7,"events":0,"lease":{"id":"1","holder":"ada","token":7}}`, "a lease exists exactly when"},
		"hand-over: status removed":      {"HandOver", `"status":{"finished":"2026-11-21T05:00:00Z"}`, ``, "the status is never removed"},
		"hand-over: rows, not finished":  {"HandOver", `"status":{"rows":[1]}`, ``, "the status is never removed"},
		"hand-over: finished, removed":   {"HandOver", `"status":{"finished":"2026-11-21T05:00:00Z"}`, `"status":{}`, "a finished hand-over is not started again"},
		"history: lines removed":         {"ReservationHistory", `"events":[{"n":1}]`, ``, "history is never changed"},
		"history: lines emptied":         {"ReservationHistory", `"events":[{"n":1}]`, `"events":[]`, "history is never changed"},
		"allowed: first status":          {"Reservation", ``, `"status":{` + held + `}`, ""},
		"allowed: same again":            {"Reservation", `"status":{` + held + `}`, `"status":{` + held + `}`, ""},
		"allowed: no status yet":         {"Reservation", ``, ``, ""},
		"allowed: a user's lease again":  {"Reservation", `"status":{` + owned + `}`, `"status":{` + owned + `}`, ""},
		"allowed: released":              {"Reservation", `"status":{` + held + `}`, `"status":{"state":"dirty","token":7,"events":4,"recent":["1 a","2 b","3 c","4 d"],"dirtyInfo":{}}`, ""},
		"allowed: lines kept elsewhere":  {"Reservation", `"status":{` + held + `}`, `"status":{` + strings.Replace(strings.Replace(held, `"recent":["1 a","2 b","3 c"]`, `"recent":["4 d"]`, 1), `"events":3`, `"events":4`, 1) + `}`, ""},
		"allowed: next holder":           {"Reservation", `"status":{` + held + `}`, `"status":{"state":"leased","token":8,"events":5,"recent":["5 e"],"lease":{"id":"2","holder":"eve","token":8}}`, ""},
		"allowed: hand-over continues":   {"HandOver", `"status":{"rows":[1]}`, `"status":{"rows":[1,2]}`, ""},
		"allowed: hand-over is finished": {"HandOver", ``, `"status":{"finished":"2026-11-21T05:00:00Z"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules := rulesOf(t, tt.kind)
			text := func(part string) string {
				head := metadata
				if tt.kind == "HandOver" {
					head = strings.Replace(head, `"spec":{}`, `"spec":{"entry":"e","action":"up","at":"2026-11-21T04:00:00Z","until":"2026-11-21T05:00:00Z"}`, 1)
				}
				if part != "" {
					part = "," + part
				}
				return `{` + head + part + `}`
			}
			errs, _ := cel.NewValidator(rules, true, celconfig.PerCallLimit).Validate(t.Context(), nil, rules, object(t, text(tt.updated)), object(t, text(tt.old)), celconfig.RuntimeCELCostBudget)
			var says []string
			for _, err := range errs {
				says = append(says, err.Error())
			}
			all := strings.Join(says, "; ")
			if tt.says == "" && len(errs) > 0 || tt.says != "" && !slices.ContainsFunc(says, func(s string) bool { return strings.Contains(s, tt.says) }) {
				t.Errorf("%q, want %q", all, tt.says)
			}
		})
	}
}

// Random steps satisfy the rules of the CRD.
func TestWhatLeasesWriteKeepsToTheRules(t *testing.T) {
	t.Parallel()
	rules := rulesOf(t, "Reservation")
	validator := cel.NewValidator(rules, true, celconfig.PerCallLimit)
	random := rand.New(rand.NewPCG(1, 2))
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	written := func(r *Reservation) map[string]any {
		r.Status.State, r.Status.Waiting = r.Status.CurrentState(), len(r.Status.Queue)
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return object(t, string(data))
	}
	r := &Reservation{}
	old, states := written(r), map[lease.State]int{}
	for n := range 800 {
		now = now.Add(time.Duration(random.IntN(90)) * time.Second)
		token := r.Status.Token
		if r.Status.Lease != nil {
			token = r.Status.Lease.Token
		}
		ticket := lease.Ticket{ID: fmt.Sprint(n), Holder: fmt.Sprint("user-", n%3), RenewInterval: lease.Duration(time.Minute)}
		claim := func(s *lease.Record) {
			if s.Lease != nil {
				_, _ = s.Claim(s.Lease.ID, now)
			}
		}
		steps := []func(s *lease.Record){
			func(s *lease.Record) { s.Enqueue(ticket, now) }, claim, claim, claim,
			func(s *lease.Record) { _ = s.Cancel(fmt.Sprint(n-1-random.IntN(9)), "left", now) },
			func(s *lease.Record) { _, _ = s.RenewClean(token, now) },
			func(s *lease.Record) { _ = s.FinishClean(token, "clean", now) },
			func(s *lease.Record) { _, _ = s.Renew(token, now) },
			func(s *lease.Record) { _ = s.Release(token, random.IntN(2) == 0, "done", now) },
			func(s *lease.Record) { _ = s.Return(token, now) },
			func(s *lease.Record) { _ = s.Expire(token, "silent", now) },
			func(s *lease.Record) { _ = s.Evict(token, "operator", "needed", now) },
			func(s *lease.Record) { s.QuarantineFree("janitor", "in use", now) },
			func(s *lease.Record) { _, _ = s.Clean(ticket, now) },
			func(s *lease.Record) { _ = s.FinishClean(token, "clean", now) },
			func(s *lease.Record) { _ = s.FailClean(token, "not clean", now) },
			func(s *lease.Record) { _, _ = s.Checkout(ticket, now) },
			func(s *lease.Record) { _ = s.Checkin(token, "over", now) },
		}
		steps[random.IntN(len(steps))](&r.Status.Record)
		if len(r.Status.Recent) >= archivedAtOnce+keepRecent {
			r.Status.Recent = r.Status.Recent[archivedAtOnce:]
		}
		next := written(r)
		errs, _ := validator.Validate(t.Context(), nil, rules, next, old, celconfig.RuntimeCELCostBudget)
		if len(errs) > 0 {
			t.Fatalf("step %d: %v\n%v\n%v", n, errs, old["status"], next["status"])
		}
		states[r.Status.State]++
		old = next
	}
	if len(states) != 4 {
		t.Errorf("only %v were reached", states)
	}
}
