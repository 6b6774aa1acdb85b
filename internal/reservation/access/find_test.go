package access

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// cloud is a cloud and a store of one reservation; a slow list may lose the lease.
type cloud struct {
	rec    lease.Record
	stands []hook.Deployment
	err    error
	during func(*lease.Record)
	asked  []hook.Lease
}

func (c *cloud) Owner() string { return "team-x" }

func (c *cloud) GetUncached(context.Context, string) (*store.Reservation, error) {
	return &store.Reservation{Status: store.Status{Record: *c.rec.DeepCopy()}}, nil
}

func (c *cloud) Discover(_ context.Context, _ config.Cloud, _ *config.Reservation, l hook.Lease) ([]hook.Deployment, error) {
	c.asked = append(c.asked, l)
	if c.during != nil {
		c.during(&c.rec)
	}
	return c.stands, c.err
}

const granted = int64(1795273200000)

var (
	ends = metav1.NewMicroTime(time.Date(2026, 11, 22, 2, 0, 0, 0, time.UTC))
	row  = config.Reservation{Name: "gcp-h100", Slug: "gh1", Cloud: config.GCP, GPUCount: 8, NodeCount: 2}
)

// own is a lease that ada acquired, day a lease that ada checked out.
func own(token int64) lease.Record {
	return lease.Record{State: lease.Leased, Token: token, Lease: &lease.Lease{
		Ticket: lease.Ticket{ID: "t", Holder: "ada@desk"}, Token: token, ClaimedAt: &ends, ExpiresAt: &ends,
	}}
}

func day(token, opened int64) lease.Record {
	r := own(token)
	r.Lease.Publisher = "team-x/daytime"
	if opened > 0 {
		r.Recent = []lease.Event{{N: 1, Type: lease.Published, Token: opened - 50}, {N: 2, Type: lease.Published, Token: opened}, {N: 3, Type: lease.CheckedOut, Token: token}}
	}
	return r
}

func deployment(name string, token int64) hook.Deployment {
	return hook.Deployment{
		Name: name, Owner: "team-x", Reservation: row.Name, Intent: config.Inference, Token: token,
		Access: &hook.Access{Server: "https://192.0.2.1", CA: "-----BEGIN CERTIFICATE-----\n", Exec: hook.Exec{Command: "gke-gcloud-auth-plugin"}},
	}
}

func with(r lease.Record, change func(*lease.Record)) lease.Record {
	change(&r)
	return r
}

func TestFind(t *testing.T) {
	t.Parallel()
	unreachable, foreign := deployment("fl-day-gh1-a", granted), deployment("theirs", granted)
	unreachable.Access, foreign.Owner = nil, "team-y"
	for name, tt := range map[string]struct {
		cloud cloud
		token int64
		want  string // the deployment, or text of the error
		is    error
	}{
		"one's own lease":               {cloud{rec: own(granted), stands: []hook.Deployment{deployment("fl-x", granted)}}, granted, "= fl-x", nil},
		"taken by day":                  {cloud{rec: day(granted+9, granted), stands: []hook.Deployment{deployment("fl-day", granted)}}, granted + 9, "= fl-day", nil},
		"opened long ago":               {cloud{rec: day(granted+9, 0), stands: []hook.Deployment{deployment("fl-day", granted)}}, granted + 9, "= fl-day", nil},
		"next to one's own":             {cloud{rec: day(granted+9, granted), stands: []hook.Deployment{deployment("fl-old", granted-500), deployment("fl-day", granted)}}, granted + 9, "= fl-day", nil},
		"no reachable deployment":       {cloud{rec: own(granted)}, granted, "no reachable deployment", ErrNoDeployment},
		"left by another":               {cloud{rec: own(granted), stands: []hook.Deployment{deployment("fl-old", granted-1)}}, granted, "belong to other leases: fl-old (owner team-x, token 1795273199999)", ErrNoDeployment},
		"left of yesterday":             {cloud{rec: day(granted+9, granted), stands: []hook.Deployment{deployment("fl-old", granted-500)}}, granted + 9, "fl-old", ErrNoDeployment},
		"another owner's":               {cloud{rec: own(granted), stands: []hook.Deployment{foreign}}, granted, "theirs (owner team-y", ErrNoDeployment},
		"two of them":                   {cloud{rec: day(granted+9, 0), stands: []hook.Deployment{deployment("a", granted-5), deployment("b", granted)}}, granted + 9, "2 deployments", ErrNoDeployment},
		"being made":                    {cloud{rec: own(granted), stands: []hook.Deployment{unreachable}}, granted, "still being created", ErrNoDeployment},
		"open, not taken":               {cloud{rec: with(day(granted, granted), func(r *lease.Record) { r.Lease.Available = true })}, granted, "available for checkout", ErrNotHeld},
		"a cleaner's":                   {cloud{rec: with(own(granted), func(r *lease.Record) { r.State, r.DirtyInfo = lease.Cleaning, &lease.DirtyInfo{} })}, granted, "ada@desk is cleaning it", ErrNotHeld},
		"a stale token":                 {cloud{rec: own(granted)}, granted - 1, "ada@desk holds it", nil},
		"offered only":                  {cloud{rec: with(own(granted), func(r *lease.Record) { r.Lease.ClaimedAt = nil })}, granted, "is stale", nil},
		"free":                          {cloud{}, granted, "it has no holder", nil},
		"a cloud that cannot be listed": {cloud{rec: own(granted), err: errors.New("no route")}, granted, "find the deployment on gcp-h100: no route", nil},
		"lost while it looked": {
			cloud{rec: own(granted), stands: []hook.Deployment{deployment("fl-x", granted)}, during: func(r *lease.Record) { *r = own(granted + 1); r.Lease.Holder = "eve" }},
			granted, "eve holds it", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := Find(t.Context(), &tt.cloud, &tt.cloud, row, tt.token)
			if strings.HasPrefix(tt.want, "= ") {
				if err != nil || a.Deployment != tt.want[2:] || a.Token != tt.token || a.Holder != "ada@desk" || !a.Until.Equal(ends.Time) || len(a.Config) == 0 {
					t.Errorf("found %+v, %v", a, err)
				}
				if got := tt.cloud.asked; len(got) != 1 || got[0].Token != tt.token {
					t.Errorf("the hook was asked under %+v", got)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || a.Config != nil {
				t.Fatalf("got %v, want %s", err, tt.want)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("%v is no %v", err, tt.is)
			}
			var stale *lease.StaleError
			if strings.Contains(tt.want, "holds it") && !errors.As(err, &stale) {
				t.Errorf("%v does not refuse a stale token", err)
			}
		})
	}
}
