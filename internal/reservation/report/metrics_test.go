package report

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/store"
	"github.com/firstlight/firstlight/internal/reservation/store/storetest"
)

var shared storetest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// noon is when the tests of package metrics look.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func before(d time.Duration) metav1.MicroTime { return metav1.NewMicroTime(noon.Add(-d)) }

// memory is a store in memory.
type memory struct {
	list      []*store.Reservation
	pieces    map[string][]lease.Event
	handOvers []*store.HandOver
	broken    map[string]error
	asked     []string
}

func (m *memory) List(context.Context) ([]*store.Reservation, error) {
	m.asked = append(m.asked, "list")
	return m.list, m.broken["list"]
}

func (m *memory) EachHistory(_ context.Context, each func(string, []lease.Event)) error {
	m.asked = append(m.asked, "pieces")
	for name, piece := range m.pieces {
		each(name, piece)
	}
	return m.broken["pieces"]
}

func (m *memory) ListHandOvers(context.Context, time.Time) ([]*store.HandOver, error) {
	m.asked = append(m.asked, "hand-overs")
	return m.handOvers, m.broken["hand-overs"]
}

// of is what a collector tells of some metrics, in Prometheus' text.
func of(t *testing.T, c prometheus.Collector, names ...string) string {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(c)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range families {
		if len(names) > 0 && !slices.Contains(names, strings.TrimPrefix(f.GetName(), "firstlight_")) {
			continue
		}
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			value := m.GetGauge().GetValue()
			if c := m.GetCounter(); c != nil {
				value = c.GetValue()
			}
			out = append(out, fmt.Sprintf("%s{%s} %s", strings.TrimPrefix(f.GetName(), "firstlight_"), strings.Join(labels, ","), strconv.FormatFloat(value, 'f', -1, 64)))
		}
	}
	return strings.Join(out, "\n")
}

func row(name string, rec lease.Record) *store.Reservation {
	return &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: store.Spec{Cloud: "aws"}, Status: store.Status{Record: rec}}
}

func collectorOf(m *memory) prometheus.Collector {
	return NewCollector(CollectorOptions{Store: m, Now: func() time.Time { return noon }})
}

func TestReservation(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) *metav1.MicroTime { m := before(-d); return &m }
	ada := lease.Ticket{ID: "a", Holder: "ada@desk", Purpose: "a purpose"}
	for name, tt := range map[string]struct {
		rec  lease.Record
		want []string
		not  []string
	}{
		"free": {
			want: []string{"state{cloud=aws,reservation=r,state=free} 1", "queue_length{reservation=r} 0", "blocked{reservation=r} 0", "clean_attempts{reservation=r} 0"},
			not:  []string{"holder_info", "lease_until", "lease_ends", "oldest_waiter", "dirty_since"},
		},
		"offered, without a holder metric": {
			rec:  lease.Record{State: lease.Leased, Token: 7, Lease: &lease.Lease{Ticket: ada, Token: 7}},
			want: []string{"state{cloud=aws,reservation=r,state=leased} 1", "token{reservation=r} 7"},
			not:  []string{"holder_info", "lease_until"},
		},
		"held until an end": {
			rec: lease.Record{State: lease.Leased, Token: 1795273200123, Lease: &lease.Lease{Ticket: ada, Token: 1795273200123, ClaimedAt: at(0), ExpiresAt: at(time.Hour), TermEndsAt: at(time.Hour)}},
			want: []string{
				"state{cloud=aws,reservation=r,state=free} 0", "state{cloud=aws,reservation=r,state=leased} 1", "token{reservation=r} 1795273200123",
				"holder_info{class=people,holder=ada@desk,reservation=r} 1",
				"lease_until_timestamp_seconds{reservation=r} 1795266000", "lease_ends_timestamp_seconds{reservation=r} 1795266000",
			},
			not: []string{"a purpose"},
		},
		"held as long as it is renewed": {
			rec:  lease.Record{State: lease.Leased, Lease: &lease.Lease{Ticket: lease.Ticket{ID: "b", Holder: strings.Repeat("ö", 100), Class: "nightly"}, ClaimedAt: at(0), ExpiresAt: at(time.Minute)}},
			want: []string{"holder_info{class=nightly,holder=" + strings.Repeat("ö", 63) + "…,reservation=r} 1", "lease_until_timestamp_seconds{reservation=r} 1795262460"},
			not:  []string{"lease_ends"},
		},
		"waited for, by one whose clock is ahead": {
			rec:  lease.Record{State: lease.Leased, Lease: &lease.Lease{Ticket: ada, ClaimedAt: at(0)}, Queue: []lease.Ticket{{ID: "b", QueuedAt: before(-time.Hour)}}},
			want: []string{"queue_length{reservation=r} 1", "oldest_waiter_seconds{reservation=r} 0"},
		},
		"waited for; a later ticket may be before an older one": {
			rec:  lease.Record{State: lease.Leased, Lease: &lease.Lease{Ticket: ada, ClaimedAt: at(0)}, Queue: []lease.Ticket{{ID: "n", Priority: 10, QueuedAt: before(time.Minute)}, {ID: "b", QueuedAt: before(time.Hour)}}},
			want: []string{"queue_length{reservation=r} 2", "oldest_waiter_seconds{reservation=r} 3600"},
		},
		"dirty": {
			rec:  lease.Record{State: lease.Dirty, DirtyInfo: &lease.DirtyInfo{Since: before(time.Hour), Attempts: 3}},
			want: []string{"state{cloud=aws,reservation=r,state=dirty} 1", "dirty_since_timestamp_seconds{reservation=r} 1795258800", "clean_attempts{reservation=r} 3", "blocked{reservation=r} 0"},
			not:  []string{"holder_info"},
		},
		"dirty, holder unknown": {
			rec:  lease.Record{State: lease.Dirty, DirtyInfo: &lease.DirtyInfo{Since: before(0), ManualOnly: true}},
			want: []string{"blocked{reservation=r} 1"},
		},
		"cleaning": {
			rec:  lease.Record{State: lease.Cleaning, DirtyInfo: &lease.DirtyInfo{Since: before(0)}, Lease: &lease.Lease{Ticket: ada, ClaimedAt: at(0)}},
			want: []string{"state{cloud=aws,reservation=r,state=cleaning} 1", "holder_info{class=people,holder=ada@desk,reservation=r} 1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := of(t, collectorOf(&memory{list: []*store.Reservation{row("r", tt.rec)}}))
			if !strings.Contains(got, "reservation_store_up{} 1") {
				t.Errorf("the store is not up:\n%s", got)
			}
			for _, want := range tt.want {
				if !strings.Contains("\n"+got+"\n", "\nreservation_"+want+"\n") {
					t.Errorf("there is no %s in\n%s", want, got)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(got, not) {
					t.Errorf("there is a %s in\n%s", not, got)
				}
			}
		})
	}
}

func handOver(entry, action string, ago, window time.Duration, finished bool, failed string, rows ...store.HandOverRow) *store.HandOver {
	h := &store.HandOver{Spec: store.HandOverSpec{Entry: entry, Action: action, At: metav1.NewTime(noon.Add(-ago)), Until: metav1.NewTime(noon.Add(-ago + window))}}
	h.Status.Rows, h.Status.Failed = rows, failed
	if finished {
		at := metav1.NewTime(noon.Add(-ago + time.Minute))
		h.Status.Finished = &at
	}
	return h
}

func TestHandOvers(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	cells := func(outcomes ...matrix.Outcome) store.HandOverRow {
		r := store.HandOverRow{Reservation: "r"}
		for _, o := range outcomes {
			r.Cells = append(r.Cells, matrix.Cell{Outcome: o})
		}
		return r
	}
	for name, tt := range map[string]struct {
		list []*store.HandOver
		want string
	}{
		"none": {want: ""},
		"done yesterday, failed today": {
			list: []*store.HandOver{handOver("down", "down", 25*time.Hour, time.Hour, true, ""), handOver("down", "down", time.Hour, time.Hour, true, "r: it still exists", store.HandOverRow{Reservation: "r"})},
			want: "handover_failed{entry=down} 1\nhandover_last_timestamp_seconds{entry=down,result=done} 1795172400\n" +
				"handover_last_timestamp_seconds{entry=down,result=failed} 1795258800\nhandover_overdue{entry=down} 0",
		},
		"failed yesterday, runs now": {
			list: []*store.HandOver{handOver("down", "down", day, time.Hour, true, "x"), handOver("down", "down", time.Minute, time.Hour, false, "")},
			want: "handover_failed{entry=down} 1\nhandover_last_timestamp_seconds{entry=down,result=failed} 1795176000\n" +
				"handover_last_timestamp_seconds{entry=down,result=running} 1795262340\nhandover_overdue{entry=down} 0",
		},
		"not ended in its window": {
			list: []*store.HandOver{handOver("down", "down", 2*time.Hour, time.Hour, false, "")},
			want: "handover_last_timestamp_seconds{entry=down,result=running} 1795255200\nhandover_overdue{entry=down} 1",
		},
		"the newest batch alone": {
			list: []*store.HandOver{
				handOver("night", "batch", day, time.Hour, true, "", cells(matrix.Failed)),
				handOver("night", "batch", 0, time.Hour, true, "", cells(matrix.Passed, matrix.Passed, matrix.TimedOut, "")),
			},
			want: `batch_cells{entry=night,outcome=blocked,reservation=r} 0
batch_cells{entry=night,outcome=failed,reservation=r} 0
batch_cells{entry=night,outcome=interrupted,reservation=r} 0
batch_cells{entry=night,outcome=not-started,reservation=r} 0
batch_cells{entry=night,outcome=passed,reservation=r} 2
batch_cells{entry=night,outcome=pending,reservation=r} 1
batch_cells{entry=night,outcome=running,reservation=r} 0
batch_cells{entry=night,outcome=superseded,reservation=r} 0
batch_cells{entry=night,outcome=timed-out,reservation=r} 1
handover_failed{entry=night} 0
handover_last_timestamp_seconds{entry=night,result=done} 1795262400
handover_overdue{entry=night} 0`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := of(t, collectorOf(&memory{handOvers: tt.list}), "handover_failed", "handover_last_timestamp_seconds", "handover_overdue", "batch_cells")
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// An unreadable store reports no values, neither zero nor old ones.
func TestStoreThatCantBeRead(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"list", "pieces", "hand-overs"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			m := &memory{list: []*store.Reservation{row("r", lease.Record{State: lease.Dirty, Events: 1, Recent: transitions(1, lease.Quarantined)})}}
			r := prometheus.NewPedanticRegistry()
			r.MustRegister(collectorOf(m))
			if families, err := r.Gather(); err != nil || len(families) < 5 {
				t.Fatalf("%d metrics, %v", len(families), err)
			}
			m.broken = map[string]error{what: errors.New("no route to host")}
			m.list[0].Status.Recent = transitions(90, lease.Cleaned) // so that pieces are asked for
			families, err := r.Gather()
			if err == nil || !strings.Contains(err.Error(), "no route to host") {
				t.Errorf("the error is %v", err)
			}
			if len(families) != 1 || families[0].GetName() != "firstlight_reservation_store_up" || families[0].GetMetric()[0].GetGauge().GetValue() != 0 {
				t.Errorf("it tells %v", families)
			}
		})
	}
}

// transitions are so many as whats, the first with number n.
func transitions(n int64, whats ...lease.EventType) []lease.Event {
	var out []lease.Event
	for i, what := range whats {
		out = append(out, lease.Event{N: n + int64(i), At: before(time.Hour - time.Duration(n+int64(i))*time.Second), Type: what})
	}
	return out
}

func TestHistoryIsCountedOnce(t *testing.T) {
	t.Parallel()
	counts := func(c prometheus.Collector) string {
		var out []string
		for line := range strings.SplitSeq(of(t, c, "reservation_events_total"), "\n") {
			if !strings.HasSuffix(line, " 0") {
				out = append(out, strings.TrimPrefix(line, "reservation_events_total"))
			}
		}
		return strings.Join(out, " ")
	}
	one, two := transitions(1, lease.Queued, lease.Offered), transitions(3, lease.Claimed, lease.Queued)
	m := &memory{
		list:   []*store.Reservation{row("r", lease.Record{Recent: two})},
		pieces: map[string][]lease.Event{"r": append(slices.Clone(one), two[0]), "gone": one}, // one is in a piece already
	}
	c := collectorOf(m)
	for i, step := range []struct {
		do     func()
		want   string
		pieces int
	}{
		{func() {}, "{reservation=r,type=claimed} 1 {reservation=r,type=offered} 1 {reservation=r,type=queued} 2", 1},
		{func() {}, "{reservation=r,type=claimed} 1 {reservation=r,type=offered} 1 {reservation=r,type=queued} 2", 1},
		{ // new events are in the status: no other read
			func() {
				m.list[0].Status.Recent = append(slices.Clone(two), transitions(5, lease.Released, lease.Cleaned)...)
			},
			"{reservation=r,type=claimed} 1 {reservation=r,type=cleaned} 1 {reservation=r,type=offered} 1 {reservation=r,type=queued} 2 {reservation=r,type=released} 1", 1,
		},
		{ // so much is new that the status does not go back as far
			func() {
				m.pieces["r"] = append(slices.Concat(one, two), transitions(5, lease.Released, lease.Cleaned, lease.Queued)...)
				m.list[0].Status.Recent = transitions(8, lease.Cancelled)
			},
			"{reservation=r,type=cancelled} 1 {reservation=r,type=claimed} 1 {reservation=r,type=cleaned} 1 {reservation=r,type=offered} 1 {reservation=r,type=queued} 3 {reservation=r,type=released} 1", 2,
		},
		{ // a backup was restored
			func() { m.pieces["r"], m.list[0].Status.Recent = nil, one },
			"{reservation=r,type=offered} 1 {reservation=r,type=queued} 1", 3,
		},
		{ // the reservation was deleted, and another has its name
			func() { m.list[0].Status.Recent = nil },
			"", 4,
		},
		{ // since it was seen with nothing, so much has happened that its status does not begin with it
			func() {
				m.pieces["r"] = transitions(1, lease.Queued)
				m.list[0].Status.Recent = transitions(2, lease.Quarantined)
			}, "{reservation=r,type=quarantined} 1 {reservation=r,type=queued} 1", 5,
		},
	} {
		step.do()
		if got := counts(c); got != step.want {
			t.Errorf("step %d: got  %s\nwant %s", i, got, step.want)
		}
		asked := len(slices.DeleteFunc(slices.Clone(m.asked), func(s string) bool { return s != "pieces" }))
		if asked != step.pieces {
			t.Errorf("step %d: the pieces were read %d times, not %d", i, asked, step.pieces)
		}
	}
	m.list = nil
	if got := counts(c); got != "" {
		t.Errorf("of what is gone: %s", got)
	}
}

// Every thing that can happen has a series, and every state and outcome.
func TestNothingIsLeftOut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path, kind string
		have       []string
	}{
		{"../lease/record.go", "EventType", strs(eventTypes)},
		{"../lease/record.go", "State", strs(states)},
		{"../matrix/cell.go", "Outcome", strs(cellOutcomes)},
	} {
		if want := constants(t, tt.path, tt.kind); !slices.Equal(want, slices.Sorted(slices.Values(tt.have))) {
			t.Errorf("%s: there are %v, told are %v", tt.kind, want, tt.have)
		}
	}
}

func strs[T ~string](list []T) []string {
	var out []string
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}

// constants of a type in a file, in order.
func constants(t *testing.T, path, kind string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); !ok || name.Name != kind {
			return true
		}
		for _, v := range spec.Values {
			text, err := strconv.Unquote(v.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, text)
		}
		return true
	})
	slices.Sort(out)
	if len(out) < 4 {
		t.Fatalf("%s has %d constants of type %s: the search is broken", path, len(out), kind)
	}
	return out
}

func TestLint(t *testing.T) {
	t.Parallel()
	at := metav1.NewMicroTime(noon)
	m := &memory{
		list: []*store.Reservation{row("r", lease.Record{
			State: lease.Leased, Lease: &lease.Lease{ClaimedAt: &at, ExpiresAt: &at, TermEndsAt: &at},
			Queue: []lease.Ticket{{ID: "b"}}, DirtyInfo: &lease.DirtyInfo{},
		})},
		handOvers: []*store.HandOver{handOver("night", "batch", 0, time.Hour, true, "", store.HandOverRow{Reservation: "r"})},
	}
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(collectorOf(m))
	families, err := r.Gather()
	if err != nil || len(families) != len(descs) {
		t.Errorf("%d metrics of %d, %v", len(families), len(descs), err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}
