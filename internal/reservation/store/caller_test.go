package store_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/reservation/store"
)

// reviews is an API server that says who asks, and what they may do.
func reviews(t *testing.T, counts map[string]int, user string) *store.Kube {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		counts[req.Method+" "+req.URL.Path]++
		w.Header().Set("Content-Type", "application/json")
		if user == "" {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no reviews for you","code":403}`))
			return
		}
		var answer any
		switch req.URL.Path {
		case "/apis/authentication.k8s.io/v1/selfsubjectreviews":
			var review authenticationv1.SelfSubjectReview
			review.Status.UserInfo.Username = user
			answer = review
		case "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews":
			var review authorizationv1.SelfSubjectAccessReview
			if err := json.NewDecoder(req.Body).Decode(&review); err != nil {
				t.Error(err)
			}
			a := review.Spec.ResourceAttributes
			review.Status.Allowed = a.Verb == "operate" && a.Group == "firstlight.dev" && a.Resource == "reservations" && a.Name == "mine"
			answer = review
		}
		w.WriteHeader(http.StatusCreated)
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	k, err := store.NewKube(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestTheCallerIsAskedOnce(t *testing.T) {
	counts := map[string]int{}
	k := reviews(t, counts, "ada@example.com")
	for range 3 {
		if user, err := k.Caller(t.Context()); err != nil || user != "ada@example.com" {
			t.Errorf("%q, %v", user, err)
		}
		for name, want := range map[string]bool{"mine": true, "other": false} {
			if is, err := k.Operates(t.Context(), name); err != nil || is != want {
				t.Errorf("operates %s: %t, %v", name, is, err)
			}
		}
	}
	if counts["POST /apis/authentication.k8s.io/v1/selfsubjectreviews"] != 1 || counts["POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews"] != 2 {
		t.Errorf("asked %v", counts)
	}
}

func TestACallerThatIsNotNamed(t *testing.T) {
	k := reviews(t, map[string]int{}, "")
	if user, err := k.Caller(t.Context()); err == nil {
		t.Errorf("it is %q", user)
	}
	if is, err := k.Operates(t.Context(), "mine"); err == nil {
		t.Errorf("it operates: %t", is)
	}
}

// The local store's users are impersonated: their name needs no request, and is the one that the API
// server authenticates.
func TestAnImpersonatedCallerIsKnown(t *testing.T) {
	config := rest.CopyConfig(shared.Store(t).Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "ada lovelace@50%", Groups: []string{"system:masters"}}
	k, err := store.NewKube(config)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	review, err := client.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if user, err := k.Caller(t.Context()); err != nil || user != review.Status.UserInfo.Username {
		t.Errorf("%q, %v, and the API server says %q", user, err, review.Status.UserInfo.Username)
	}
}

func TestAnImpersonatedCallerIsNotAsked(t *testing.T) {
	k, err := store.NewKube(&rest.Config{Host: "http://127.0.0.1:1", Impersonate: rest.ImpersonationConfig{UserName: "ada"}})
	if err != nil {
		t.Fatal(err)
	}
	if user, err := k.Caller(t.Context()); err != nil || user != "ada" {
		t.Errorf("%q, %v", user, err)
	}
}
