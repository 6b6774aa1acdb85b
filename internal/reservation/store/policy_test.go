package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/firstlight/firstlight/internal/reservation/lease"
)

const (
	ada = "ada@example.com"
	eve = "eve@example.com"
	ops = "ops@example.com"
)

// operators allows only ops to operate reservations.
type operators struct{ asked int }

func (o *operators) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	o.asked++
	if a.GetUser().GetName() == ops && a.GetVerb() == "operate" && a.GetResource() == reservations && a.GetAPIGroup() == GroupVersion.Group && a.GetName() == "aws-h100" {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

// expression of the policy, with the name of a variable or the message of a validation.
type expression struct {
	name, text string
	returns    *cel.Type
}

func (e *expression) GetName() string          { return e.name }
func (e *expression) GetExpression() string    { return e.text }
func (e *expression) ReturnTypes() []*cel.Type { return []*cel.Type{e.returns} }

// gate is the policy as the API server compiles it.
type gate struct {
	conditions admissioncel.ConditionEvaluator
	authz      *operators
}

func newGate(tb testing.TB) *gate {
	tb.Helper()
	documents, err := decode(policy)
	if err != nil || len(documents) != 2 {
		tb.Fatalf("%d documents, %v", len(documents), err)
	}
	var p admissionregistrationv1.ValidatingAdmissionPolicy
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(documents[0].Object, &p, true); err != nil {
		tb.Fatal(err)
	}
	var b admissionregistrationv1.ValidatingAdmissionPolicyBinding
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(documents[1].Object, &b, true); err != nil {
		tb.Fatal(err)
	}
	if b.Spec.PolicyName != p.Name || len(b.Spec.ValidationActions) != 1 || b.Spec.ValidationActions[0] != admissionregistrationv1.Deny {
		tb.Errorf("the binding is %+v", b.Spec)
	}
	// The API version of the oldest supported API server.
	compiler, err := admissioncel.NewCompositedCompiler(environment.MustBaseEnvSet(utilversion.MajorMinor(1, 30)))
	if err != nil {
		tb.Fatal(err)
	}
	vars := admissioncel.OptionalVariableDeclarations{HasAuthorizer: true}
	for _, v := range p.Spec.Variables {
		r := compiler.CompileAndStoreVariable(&expression{v.Name, v.Expression, cel.AnyType}, vars, environment.NewExpressions)
		if r.Error != nil {
			tb.Fatalf("variable %s: %v", v.Name, r.Error)
		}
	}
	var conditions []admissioncel.ExpressionAccessor
	for _, v := range p.Spec.Validations {
		e := &expression{v.Message, v.Expression, cel.BoolType}
		if r := compiler.CompileCELExpression(e, vars, environment.NewExpressions); r.Error != nil {
			tb.Fatalf("%s: %v", v.Message, r.Error)
		}
		if v.MessageExpression != "" {
			tb.Errorf("%s: an expression of a message is evaluated at every write", v.Message)
		}
		conditions = append(conditions, e)
	}
	if p.Spec.FailurePolicy == nil || *p.Spec.FailurePolicy != admissionregistrationv1.Fail {
		tb.Error("accepted without a decision")
	}
	return &gate{authz: &operators{}, conditions: compiler.CompileCondition(conditions, vars, environment.NewExpressions)}
}

// refuses returns the message of the policy for a write of a user; empty: allowed.
func (g *gate) refuses(tb testing.TB, by string, old, updated map[string]any) string {
	tb.Helper()
	resource, kind := GroupVersion.WithResource(reservations), GroupVersion.WithKind("Reservation")
	was, is := &unstructured.Unstructured{Object: old}, &unstructured.Unstructured{Object: updated}
	attr := admission.NewAttributesRecord(is, was, kind, "", "aws-h100", resource, "status", admission.Update, &metav1.UpdateOptions{}, false, &user.DefaultInfo{Name: by})
	versioned := &admission.VersionedAttributes{Attributes: attr, VersionedObject: is, VersionedOldObject: was, VersionedKind: kind}
	request := admissioncel.CreateAdmissionRequest(attr, metav1.GroupVersionResource(resource), metav1.GroupVersionKind(kind))
	results, _, err := g.conditions.ForInput(tb.Context(), versioned, request, admissioncel.OptionalVariableBindings{Authorizer: g.authz}, nil, celconfig.RuntimeCELCostBudget)
	if err != nil {
		tb.Fatal(err)
	}
	var says []string
	for _, r := range results {
		switch {
		case r.Error != nil:
			says = append(says, r.ExpressionAccessor.(*expression).name+": "+r.Error.Error())
		case r.EvalResult != types.True:
			says = append(says, r.ExpressionAccessor.(*expression).name)
		}
	}
	return strings.Join(says, "; ")
}

// wire is a reservation as the API server has it.
func wire(tb testing.TB, r *lease.Record) map[string]any {
	tb.Helper()
	one := &Reservation{ObjectMeta: metav1.ObjectMeta{Name: "aws-h100"}}
	one.Status.Record = *r.DeepCopy()
	one.Status.State = r.CurrentState()
	raw, err := json.Marshal(one)
	if err != nil {
		tb.Fatal(err)
	}
	var o map[string]any
	if err := json.Unmarshal(raw, &o); err != nil {
		tb.Fatal(err)
	}
	whole(o)
	return o
}

func status(o map[string]any) map[string]any { return o["status"].(map[string]any) }

// adas returns a reservation that ada holds, with users in each line.
func adas(tb testing.TB) *lease.Record {
	tb.Helper()
	r := &lease.Record{}
	r.Enqueue(lease.Ticket{ID: "1", Holder: "ada@desk", User: ada, RenewInterval: lease.Duration(time.Minute)}, noonOfPolicy)
	if _, err := r.Claim("1", noonOfPolicy); err != nil {
		tb.Fatal(err)
	}
	r.Sign(0, ada)
	return r
}

var noonOfPolicy = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Regression: any user with write access to a status ended the lease of another, and the history
// named the victim.
func TestThePolicyRefuses(t *testing.T) {
	g := newGate(t)
	const (
		notYours = "renewed, extended and released by its holder or an operator"
		names    = "must name the user that writes it"
		changed  = "a line of history is never changed"
		claimed  = "a lease is claimed by its user"
	)
	do := func(f func(r *lease.Record) error) func(t *testing.T, r *lease.Record) {
		return func(t *testing.T, r *lease.Record) {
			t.Helper()
			if err := f(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	now := noonOfPolicy.Add(time.Second)
	renew := do(func(r *lease.Record) error { _, err := r.Renew(r.Token, now); return err })
	release := do(func(r *lease.Record) error { return r.Release(r.Token, true, "done", now) })
	expire := do(func(r *lease.Record) error { return r.Expire(r.Token, "silent", now) })
	restore := do(func(r *lease.Record) error { return r.ConfirmRestore(r.Token+5, "monday", now) })
	queue := do(func(r *lease.Record) error {
		r.Enqueue(lease.Ticket{ID: "2", Holder: "eve@desk", User: eve}, now)
		return nil
	})
	for name, c := range map[string]struct {
		by     string
		do     func(t *testing.T, r *lease.Record)
		signed string // else by
		alter  func(status map[string]any)
		says   string
	}{
		"renewed by another":                 {by: eve, do: renew, says: notYours},
		"released by another":                {by: eve, do: release, says: notYours},
		"released by another, as its holder": {by: eve, do: release, signed: ada, says: names},
		"restored, says another":             {by: eve, do: restore, says: "an operator must confirm"},
		"evicted by another":                 {by: eve, do: do(func(r *lease.Record) error { return r.Evict(r.Token, "eve", "", now) }), says: notYours},
		"notice by another": {by: eve, do: do(func(r *lease.Record) error {
			return r.Notify(r.Token, lease.Notice{By: "eve", At: metav1.NewMicroTime(now)}, now)
		}), says: notYours},
		"expired, and free at once": {by: eve, do: expire, alter: func(s map[string]any) { s["state"] = "free"; delete(s, "dirtyInfo") }, says: notYours},
		"the holder changed":        {by: eve, do: queue, alter: func(s map[string]any) { s["lease"].(map[string]any)["user"] = eve }, says: notYours},
		"the lease ended by a line of another token": {by: eve, do: expire, alter: func(s map[string]any) {
			lines := s["recent"].([]any)
			last := lines[len(lines)-1].(string)
			lines[len(lines)-1] = strings.Replace(last, fmt.Sprint(" ", status(wire(t, adas(t)))["token"], " "), " 5 ", 1)
		}, says: notYours},
		"queued in another's name":      {by: eve, do: queue, signed: ada, says: names},
		"an operator in another's name": {by: ops, do: release, signed: ada, says: names},
		"not signed": {by: ada, do: release, alter: func(s map[string]any) {
			lines := s["recent"].([]any)
			lines[len(lines)-1] = strings.Replace(lines[len(lines)-1].(string), " by="+ada, "", 1)
		}, says: "a new line of history must be"},
		"an old line rewritten": {by: ada, do: release, alter: func(s map[string]any) {
			lines := s["recent"].([]any)
			lines[0] = strings.ReplaceAll(lines[0].(string), "ada", "eve")
		}, says: changed},
		"an old line rewritten, without a new one": {by: eve, do: func(*testing.T, *lease.Record) {}, alter: func(s map[string]any) {
			lines := s["recent"].([]any)
			lines[2] = strings.ReplaceAll(lines[2].(string), "ada", "eve")
		}, says: changed},
		"old lines dropped": {by: ada, do: release, alter: func(s map[string]any) { s["recent"] = s["recent"].([]any)[2:] }, says: changed},
		"all lines dropped": {by: ada, do: release, alter: func(s map[string]any) { s["recent"] = s["recent"].([]any)[3:] }, says: changed},
		"a line split":      {by: ada, do: renew, alter: func(s map[string]any) { s["recent"] = append(s["recent"].([]any), "x") }, says: changed},
		"numbers left out": {by: ada, do: release, alter: func(s map[string]any) {
			lines := s["recent"].([]any)
			lines[len(lines)-1] = "9" + lines[len(lines)-1].(string)[1:]
		}, says: "with the next number"},
		"more lines counted than written": {by: eve, do: queue, alter: func(s map[string]any) { s["events"] = int64(30) }, says: "has them"},
		"an unreadable line": {by: eve, do: queue, alter: func(s map[string]any) {
			lines := s["recent"].([]any)
			lines[len(lines)-1] = "4 noon queued free 0 eve by=" + eve + " "
		}, says: "a new line of history must be"},
		"claimed for another": {by: eve, do: do(func(r *lease.Record) error {
			if err := r.Expire(r.Token, "silent", now); err != nil {
				return err
			}
			_, err := r.Clean(lease.Ticket{ID: "c", Holder: "bob", User: "bob@example.com"}, now)
			return err
		}), says: claimed},
		"allowed: renewed":              {by: ada, do: renew},
		"allowed: extended":             {by: ada, do: do(func(r *lease.Record) error { _, err := r.Extend(r.Token, now.Add(time.Hour), "", now); return err })},
		"allowed: released":             {by: ada, do: release},
		"allowed: queued behind it":     {by: eve, do: queue},
		"allowed: silent, says another": {by: eve, do: expire},
		"allowed: an operator releases": {by: ops, do: release},
		"allowed: an operator confirms": {by: ops, do: restore},
		"allowed: nothing":              {by: eve, do: func(*testing.T, *lease.Record) {}},
	} {
		t.Run(name, func(t *testing.T) {
			was := adas(t)
			is := was.DeepCopy()
			c.do(t, is)
			signed := c.by
			if c.signed != "" {
				signed = c.signed
			}
			is.Sign(was.Events, signed)
			updated := wire(t, is)
			if c.alter != nil {
				c.alter(status(updated))
			}
			got := g.refuses(t, c.by, wire(t, was), updated)
			if (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
				t.Errorf("it says %q, want %q", got, c.says)
			}
		})
	}
}

// A name has anything in it, and a store may have lines of earlier versions.
func TestThePolicyReadsWhatIsThere(t *testing.T) {
	g := newGate(t)
	now := noonOfPolicy.Add(time.Second)
	for _, by := range []string{"CN=ada lovelace,O=50% x", "system:serviceaccount:firstlight:firstlight-reservations", "arn:aws:sts::111122223333:assumed-role/x/ada", "-", "%20"} {
		was := &lease.Record{}
		is := was.DeepCopy()
		is.Enqueue(lease.Ticket{ID: "1", Holder: "ada", User: by}, now)
		is.Sign(0, by)
		if says := g.refuses(t, by, wire(t, was), wire(t, is)); says != "" {
			t.Errorf("user %q: %s", by, says)
		}
	}
	for name, recent := range map[string][]any{
		"lines without a user": {"1 2026-03-01T12:00:00.123456Z claimed leased 7 ada@host debugging NCCL"},
		"a reason like a user": {"1 2026-03-01T12:00:00.123456Z claimed leased 7 ada@host by=eve in the reason"},
		"objects":              {map[string]any{"n": int64(1), "at": "2026-03-01T12:00:00.123456Z", "type": "claimed", "state": "leased", "actor": "ada"}},
	} {
		old := wire(t, &lease.Record{Events: 1})
		status(old)["recent"] = recent
		raw, err := json.Marshal(old)
		if err != nil {
			t.Fatal(err)
		}
		var r Reservation
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatal(err)
		}
		is := r.Status.Record.DeepCopy()
		is.QuarantineFree("ada", "in use", now)
		is.Sign(1, ada)
		if says := g.refuses(t, ada, old, wire(t, is)); says != "" {
			t.Errorf("%s: %s", name, says)
		}
	}
	if says := g.refuses(t, ada, map[string]any{"metadata": map[string]any{"name": "aws-h100"}}, wire(t, &lease.Record{})); says != "" {
		t.Errorf("the first status: %s", says)
	}
}

// Random steps of random users: the policy allows what a broker allows, and checks the operator
// role only if nothing else allows a write.
func TestThePolicyAllowsWhatBrokersDo(t *testing.T) {
	g := newGate(t)
	random := rand.New(rand.NewPCG(3, 4))
	now := noonOfPolicy
	users := []string{ada, eve, ops}
	r := &lease.Record{}
	counts := map[string]int{}
	for n := range 1500 {
		now = now.Add(time.Duration(random.IntN(90)) * time.Second)
		by := users[random.IntN(len(users))]
		token := r.Token
		if r.Lease != nil {
			token = r.Lease.Token
		}
		tk := lease.Ticket{ID: fmt.Sprint(n), Holder: by + "/desk", User: by, RenewInterval: lease.Duration(time.Minute), Priority: random.IntN(2)}
		if random.IntN(4) == 0 {
			tk.Group = []string{"aws-h100", "gcp-h100"}
		}
		next := r.DeepCopy()
		claim := func() {
			if next.Lease != nil {
				_, _ = next.Claim(next.Lease.ID, now)
			}
		}
		steps := []func(){
			func() { next.Enqueue(tk, now) }, func() { next.Enqueue(tk, now) }, claim, claim, claim, claim,
			func() { _ = next.Cancel(fmt.Sprint(n-1-random.IntN(9)), "left", now) },
			func() { _ = next.TimeOutTicket(fmt.Sprint(n-1-random.IntN(9)), now) },
			func() { _, _ = next.Renew(token, now) },
			func() { _, _ = next.RenewClean(token, now) },
			func() { _, _ = next.Publish(token, now.Add(time.Hour), now.Add(2*time.Hour), "up", now) },
			func() { _, _ = next.Checkout(tk, now) },
			func() { _ = next.Checkin(token, "over", now) },
			func() { _ = next.Release(token, random.IntN(2) == 0, "done", now) },
			func() { _ = next.Return(token, now) },
			func() { _ = next.Expire(token, "silent", now) },
			func() { _ = next.Evict(token, "cyd", "needed", now) },
			func() { next.QuarantineFree("janitor", "in use", now) },
			func() { _, _ = next.Clean(tk, now) },
			func() { _, _ = next.CleanLeftover(tk, "in use", now) },
			func() { _ = next.FinishClean(token, "clean", now) },
			func() { _ = next.FailClean(token, fmt.Sprint("not clean ", n), now) },
			func() { _ = next.Notify(token, lease.Notice{By: by, At: metav1.NewMicroTime(now)}, now) },
		}
		steps[random.IntN(len(steps))]()
		next.Sign(r.Events, by)
		allowed := r.AllowedForAnyUser(next, by)
		took := next.Lease != nil && next.Lease.ClaimedAt != nil && next.Lease.User != by && (r.Lease == nil || r.Lease.ClaimedAt == nil || r.Lease.Token != next.Lease.Token)
		if took && !next.Lease.Available { // claimed for another: no broker does it
			allowed = false
		}
		for len(next.Recent) >= archivedAtOnce+keepRecent {
			next.Recent = next.Recent[archivedAtOnce:]
		}
		g.authz.asked = 0
		says := g.refuses(t, by, wire(t, r), wire(t, next))
		if want := allowed || by == ops; (says == "") != want {
			t.Fatalf("step %d by %s: %q, want allowed %t\n%+v\n%+v", n, by, says, want, r, next)
		}
		if allowed && g.authz.asked > 0 {
			t.Fatalf("step %d by %s asks for roles %d times", n, by, g.authz.asked)
		}
		counts[fmt.Sprint("allowed ", says == "")]++
		if says == "" {
			r = next
		}
	}
	if counts["allowed true"] < 300 || counts["allowed false"] < 20 {
		t.Errorf("%v", counts)
	}
}

// BenchmarkPolicy is what the policy adds to a write, of a status with all the lines it has
// room for.
func BenchmarkPolicy(b *testing.B) {
	g := newGate(b)
	r := adas(b)
	for len(r.Recent) < archivedAtOnce+keepRecent-1 {
		before := r.Events
		r.Enqueue(lease.Ticket{ID: fmt.Sprint(len(r.Recent)), Holder: "eve@desk", User: eve}, noonOfPolicy)
		r.Sign(before, eve)
	}
	next := r.DeepCopy()
	if err := next.Release(next.Token, false, "done", noonOfPolicy); err != nil {
		b.Fatal(err)
	}
	next.Sign(r.Events, ada)
	old, updated := wire(b, r), wire(b, next)
	for b.Loop() {
		if says := g.refuses(b, ada, old, updated); says != "" {
			b.Fatal(says)
		}
	}
}
