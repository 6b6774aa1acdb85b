package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// timeout is the random length of a watch.
var timeout = regexp.MustCompile(`(timeout|timeoutSeconds)=[^&]*&`)

// memory is an API server that keeps objects by their path and records each request.
type memory struct {
	t *testing.T

	mu       sync.Mutex
	objects  map[string]map[string]any
	version  int
	requests []string
}

func (m *memory) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	query, err := url.QueryUnescape(req.URL.RawQuery)
	if err != nil {
		m.t.Error(err)
	}
	line := strings.TrimSuffix(req.Method+" "+strings.TrimPrefix(req.URL.Path, "/apis/")+"?"+query, "?")
	body, err := io.ReadAll(req.Body)
	if err != nil {
		m.t.Error(err)
	}
	switch accept := req.Header.Get("Accept"); {
	case req.Method == http.MethodDelete:
		line += " " + strings.TrimSpace(string(body))
	case strings.Contains(accept, ";as="):
		line += " " + accept
	}
	m.mu.Lock()
	m.requests = append(m.requests, line)
	m.mu.Unlock()
	if req.URL.Query().Get("watch") != "" {
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-req.Context().Done()
		return
	}
	code, answer := m.answer(req, body)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		m.t.Error(err)
	}
}

func (m *memory) answer(req *http.Request, body []byte) (code int, answer any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	path := strings.TrimSuffix(req.URL.Path, "/status")
	failed := func(code int, reason metav1.StatusReason) (int, any) {
		return code, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: reason, Code: int32(code)}
	}
	old, found := m.objects[path]
	switch req.Method {
	case http.MethodGet:
		if found {
			return http.StatusOK, old
		}
		if kind, isList := map[string]string{"reservations": "ReservationList", "reservationhistories": "ReservationHistoryList", "handovers": "HandOverList"}[path[strings.LastIndex(path, "/")+1:]]; isList {
			items := []any{}
			for _, p := range slices.Sorted(maps.Keys(m.objects)) {
				if strings.HasPrefix(p, path+"/") {
					items = append(items, m.objects[p])
				}
			}
			return http.StatusOK, map[string]any{"apiVersion": "firstlight.dev/v1alpha1", "kind": kind, "metadata": map[string]any{"resourceVersion": fmt.Sprint(m.version)}, "items": items}
		}
		return failed(http.StatusNotFound, metav1.StatusReasonNotFound)
	case http.MethodDelete:
		delete(m.objects, path)
		return http.StatusOK, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess}
	}
	var o map[string]any
	if err := json.Unmarshal(body, &o); err != nil {
		m.t.Errorf("%s %s: %v: %s", req.Method, path, err, body)
	}
	meta, _ := o["metadata"].(map[string]any)
	if req.Method == http.MethodPost {
		path += fmt.Sprint("/", meta["name"])
		if _, found := m.objects[path]; found {
			return failed(http.StatusConflict, metav1.StatusReasonAlreadyExists)
		}
		if !strings.HasSuffix(req.URL.Path, "reviews") {
			delete(o, "status")
		}
	}
	if req.Method == http.MethodPut && meta["resourceVersion"] != old["metadata"].(map[string]any)["resourceVersion"] {
		return failed(http.StatusConflict, metav1.StatusReasonConflict)
	}
	m.version++
	meta["resourceVersion"], meta["uid"] = fmt.Sprint(m.version), "1"
	delete(meta, "managedFields")
	switch o["kind"] {
	case "SelfSubjectReview":
		o["status"] = map[string]any{"userInfo": map[string]any{"username": "ada"}}
		return http.StatusCreated, o
	case "SelfSubjectAccessReview":
		o["status"] = map[string]any{"allowed": true}
		return http.StatusCreated, o
	case "CustomResourceDefinition":
		o["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}}
	}
	m.objects[path] = o
	if strings.Contains(req.Header.Get("Accept"), "as=PartialObjectMetadata") {
		return http.StatusOK, map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": meta}
	}
	return http.StatusOK, o
}

// since returns the requests since the last call.
func (m *memory) since() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.requests
	m.requests = nil
	return out
}

func (m *memory) want(t *testing.T, doing string, requests ...string) {
	t.Helper()
	if got := m.since(); !slices.Equal(got, requests) {
		t.Errorf("%s sends\n  %s\nwant\n  %s", doing, strings.Join(got, "\n  "), strings.Join(requests, "\n  "))
	}
}

func newMemory(t *testing.T) (*memory, *rest.Config, *store.Kube) {
	t.Helper()
	m := &memory{t: t, objects: map[string]map[string]any{}}
	server := httptest.NewServer(m)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	config := &rest.Config{Host: server.URL}
	k, err := store.NewKube(config)
	if err != nil {
		t.Fatal(err)
	}
	return m, config, k
}

// Each call sends exactly these requests: none to discover the API, none twice.
func TestRequestsOfEachCall(t *testing.T) {
	m, config, k := newMemory(t)
	ctx := t.Context()
	const group = "firstlight.dev/v1alpha1/"
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	m.want(t, "a new client")

	r, err := k.Create(ctx, &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: store.Spec{Cloud: "gcp"}})
	check(err)
	m.want(t, "Create", "POST "+group+"reservations")
	r.Spec.Cloud = "aws"
	r, err = k.Update(ctx, r)
	check(err)
	m.want(t, "Update", "PUT "+group+"reservations/a")
	r, err = k.Save(ctx, grown(r, 1))
	check(err)
	m.want(t, "Save", "PUT "+group+"reservations/a/status?fieldValidation=Ignore application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
	_, err = k.Save(ctx, grown(r, 23))
	check(err)
	m.want(t, "Save of a long history", "POST "+group+"reservationhistories", "PUT "+group+"reservations/a/status?fieldValidation=Ignore application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
	r, err = k.Get(ctx, "a")
	check(err)
	m.want(t, "Get", "GET "+group+"reservations/a")
	_, err = k.List(ctx)
	check(err)
	m.want(t, "List", "GET "+group+"reservations?limit=500")
	_, err = k.History(ctx, "a", time.Time{})
	check(err)
	m.want(t, "History", "GET "+group+"reservations/a", "GET "+group+"reservationhistories?labelSelector=firstlight.dev/reservation=a")
	check(k.EachHistory(ctx, func(string, []lease.Event) {}))
	m.want(t, "EachHistory", "GET "+group+"reservationhistories?limit=500")
	_, err = k.Apply(ctx, map[string]store.Spec{"a": {Cloud: "aws"}, "b": {}})
	check(err)
	m.want(t, "Apply", "GET "+group+"reservations?limit=500", "PUT "+group+"reservations/a", "POST "+group+"reservations")

	for range 2 {
		_, err = k.Caller(ctx)
		check(err)
		_, err = k.Operates(ctx, "a")
		check(err)
	}
	m.want(t, "Caller and Operates", "POST authentication.k8s.io/v1/selfsubjectreviews", "POST authorization.k8s.io/v1/selfsubjectaccessreviews")

	spec := store.HandOverSpec{Entry: "up", By: "ada", At: metav1.NewTime(noon)}
	h, err := k.EnsureHandOver(ctx, spec)
	check(err)
	m.want(t, "EnsureHandOver", "POST "+group+"handovers")
	_, err = k.EnsureHandOver(ctx, spec)
	check(err)
	m.want(t, "EnsureHandOver of an existing one", "POST "+group+"handovers", "GET "+group+"handovers/"+h.Name)
	_, err = k.SaveHandOver(ctx, h)
	check(err)
	m.want(t, "SaveHandOver", "PUT "+group+"handovers/"+h.Name+"/status")
	_, err = k.ListHandOvers(ctx, noon)
	check(err)
	m.want(t, "ListHandOvers", "GET "+group+"handovers?limit=500")
	_, err = k.ListManualHandOvers(ctx)
	check(err)
	m.want(t, "ListManualHandOvers", "GET "+group+"handovers?labelSelector=firstlight.dev/by-hand=true&limit=500")
	check(k.DeleteHandOver(ctx, h.Name))
	m.want(t, "DeleteHandOver", "DELETE "+group+"handovers/"+h.Name+` {"kind":"DeleteOptions","apiVersion":"firstlight.dev/v1alpha1"}`)

	check(k.Delete(ctx, r))
	m.want(t, "Delete", "DELETE "+group+`reservations/a {"kind":"DeleteOptions","apiVersion":"firstlight.dev/v1alpha1","preconditions":{"uid":"1","resourceVersion":"`+r.ResourceVersion+`"}}`)

	const definitions = "apiextensions.k8s.io/v1/customresourcedefinitions/"
	kinds := []string{"reservations.firstlight.dev", "reservationhistories.firstlight.dev", "handovers.firstlight.dev"}
	const apply = "?fieldManager=firstlight&force=true"
	install := []string{"GET " + definitions + kinds[2]}
	for _, verb := range []string{"PATCH", "GET"} {
		for _, kind := range kinds {
			line := verb + " " + definitions + kind
			if verb == "PATCH" {
				line += apply
			}
			install = append(install, line)
		}
	}
	install = append(install, "GET "+group+"reservations?limit=500",
		"PATCH admissionregistration.k8s.io/v1/validatingadmissionpolicies/reservations.firstlight.dev"+apply,
		"PATCH admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/reservations.firstlight.dev"+apply,
		"PATCH "+definitions+kinds[2]+apply)
	check(store.Install(ctx, config))
	m.want(t, "Install", install...)
	check(store.Install(ctx, config))
	m.want(t, "Install of what is installed", install[0])
}

// Regression: a piece of an earlier version has fewer events than are archived now. A writer of that
// version may have been refused after it had archived them.
func TestPieceOfAnEarlierVersionLosesNothing(t *testing.T) {
	m, _, k := newMemory(t)
	r, err := k.Create(t.Context(), &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	r.Status = grown(r, 24).Status
	if r, err = k.Save(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	pieces := 0
	for path, o := range m.objects {
		if strings.Contains(path, "/reservationhistories/") {
			pieces++
			o["events"] = o["events"].([]any)[:8]
		}
	}
	if pieces != 1 || len(r.Status.Recent) != 8 {
		t.Fatalf("nothing is tested here: %d pieces, %d lines", pieces, len(r.Status.Recent))
	}
	r.Status = grown(&store.Reservation{}, 24).Status
	if _, err := k.Save(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	complete(t, k, "a", 24)
}

// A copy lists once and watches from the version that it listed.
func TestRequestsOfACopy(t *testing.T) {
	for name, c := range map[string]struct {
		names    []string
		selector string
	}{
		"of all": {nil, ""},
		"of one": {[]string{"a"}, "fieldSelector=metadata.name=a&"},
	} {
		t.Run(name, func(t *testing.T) {
			m, _, k := newMemory(t)
			if _, err := k.Create(t.Context(), &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "a"}}); err != nil {
				t.Fatal(err)
			}
			m.since()
			ctx, cancel := context.WithCancel(t.Context())
			watched := store.NewCached(k, c.names...)
			ended, err := watched.Run(ctx)
			defer func() { cancel(); <-ended }()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			polltest.Until(t, "the watch", func() bool { got = append(got, m.since()...); return len(got) > 1 })
			if _, err := watched.Get(ctx, "a"); err != nil {
				t.Error(err)
			}
			m.want(t, "Get of a copy")
			for i := range got {
				got[i] = timeout.ReplaceAllString(got[i], "")
			}
			const kind = "GET firstlight.dev/v1alpha1/reservations?"
			want := []string{kind + c.selector + "limit=500", kind + "allowWatchBookmarks=true&" + c.selector + "resourceVersion=1&watch=true"}
			if !slices.Equal(got, want) {
				t.Errorf("requests\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
			}
		})
	}
}

// A caller repeats a write that failed: the object that it passed is unchanged, and the answer is
// what the API server stores.
func TestWriteLeavesItsArgument(t *testing.T) {
	_, _, k := newMemory(t)
	in := &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: store.Spec{Cloud: "gcp"}, Status: store.Status{Waiting: 3}}
	r, err := k.Create(t.Context(), in)
	if err != nil || r.ResourceVersion == "" || r.Spec.Cloud != "gcp" || r.Status.Waiting != 0 {
		t.Fatalf("created: %+v, %v", r, err)
	}
	if in.ResourceVersion != "" || in.Status.Waiting != 3 {
		t.Errorf("Create changed its argument: %+v", in)
	}
	next := *r
	next.Spec.Cloud, next.ManagedFields = "aws", []metav1.ManagedFieldsEntry{{}}
	updated, err := k.Update(t.Context(), &next)
	if err != nil || updated.ResourceVersion == r.ResourceVersion || updated.Spec.Cloud != "aws" || updated.ManagedFields != nil {
		t.Fatalf("updated: %+v, %v", updated, err)
	}
	if next.ResourceVersion != r.ResourceVersion || next.ManagedFields == nil {
		t.Errorf("Update changed its argument: %+v", next)
	}
	h, err := k.EnsureHandOver(t.Context(), store.HandOverSpec{Entry: "up", At: metav1.NewTime(noon)})
	if err != nil {
		t.Fatal(err)
	}
	h.Status.Row("a").Result = "passed"
	before := h.DeepCopy()
	saved, err := k.SaveHandOver(t.Context(), h)
	if err != nil || saved.ResourceVersion == h.ResourceVersion || saved.Status.Row("a").Result != "passed" {
		t.Fatalf("saved: %+v, %v", saved, err)
	}
	if before.TypeMeta = h.TypeMeta; !reflect.DeepEqual(before, h) {
		t.Errorf("SaveHandOver changed its argument: %+v", h)
	}
}

// Without the new version, the next step would write over any version.
func TestSaveWithoutAnAnswerFails(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"apiVersion":"firstlight.dev/v1alpha1","kind":"Reservation","metadata":{"name":"a"}}`)
	}))
	t.Cleanup(server.Close)
	k, err := store.NewKube(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	r := &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "1"}}
	if out, err := k.Save(t.Context(), r); err == nil {
		t.Errorf("saved: %+v", out.ObjectMeta)
	}
}
