package redfish

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/firstlight/firstlight/internal/world"
)

const (
	root        = "/redfish/v1"
	sessions    = root + "/SessionService/Sessions"
	maxSessions = 64
	maxBody     = 1 << 16
)

// handler serves all requests; only the service root needs no authentication.
type handler struct {
	world    *world.World
	password string

	mu       sync.Mutex
	sessions map[string]string // token to session Id
}

// object is a resource.
type object map[string]any

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimSuffix(r.URL.Path, "/")
	switch {
	case r.Method == http.MethodPost && path == sessions:
		h.login(w, r)
		return
	case path == root && r.Method == http.MethodGet:
	case !h.allowed(r):
		w.Header().Set("WWW-Authenticate", `Basic realm="redfish"`)
		fail(w, http.StatusUnauthorized, "Base.1.18.InsufficientPrivilege", "log in first")
		return
	case r.Method == http.MethodDelete && strings.HasPrefix(path, sessions+"/"):
		h.logout(strings.TrimPrefix(path, sessions+"/"))
		w.WriteHeader(http.StatusNoContent)
		return
	case r.Method != http.MethodGet:
		fail(w, http.StatusMethodNotAllowed, "Base.1.18.OperationNotAllowed", "this controller is read-only")
		return
	}
	resource, ok := resources(h.world.Recent(), path)
	if !ok {
		fail(w, http.StatusNotFound, "Base.1.18.ResourceMissingAtURI", "no resource at "+path)
		return
	}
	resource["@odata.id"] = path
	reply(w, http.StatusOK, resource)
}

// allowed checks a session token or the account's password.
func (h *handler) allowed(r *http.Request) bool {
	if token := r.Header.Get("X-Auth-Token"); token != "" {
		h.mu.Lock()
		defer h.mu.Unlock()
		_, ok := h.sessions[token]
		return ok
	}
	user, password, ok := r.BasicAuth()
	return ok && h.correct(user, password)
}

func (h *handler) correct(user, password string) bool {
	return user == User && subtle.ConstantTimeCompare([]byte(password), []byte(h.password)) == 1
}

func (h *handler) login(w http.ResponseWriter, r *http.Request) {
	var body struct{ UserName, Password string }
	if err := json.NewDecoder(io.LimitReader(r.Body, maxBody)).Decode(&body); err != nil {
		fail(w, http.StatusBadRequest, "Base.1.18.MalformedJSON", "the body is not a session")
		return
	}
	if !h.correct(body.UserName, body.Password) {
		fail(w, http.StatusUnauthorized, "Base.1.18.ResourceAtUriUnauthorized", "wrong user or password")
		return
	}
	token, id := rand.Text(), rand.Text()[:8]
	h.mu.Lock()
	if len(h.sessions) >= maxSessions {
		clear(h.sessions) // limits memory; all clients log in again
	}
	h.sessions[token] = id
	h.mu.Unlock()
	w.Header().Set("X-Auth-Token", token)
	w.Header().Set("Location", sessions+"/"+id)
	reply(w, http.StatusCreated, object{"@odata.id": sessions + "/" + id, "Id": id, "Name": "Session", "UserName": User})
}

func (h *handler) logout(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for token, have := range h.sessions {
		if have == id {
			delete(h.sessions, token)
		}
	}
}

func reply(w http.ResponseWriter, status int, v object) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("OData-Version", "4.0")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client disconnected
}

func fail(w http.ResponseWriter, status int, code, message string) {
	reply(w, status, object{"error": object{"code": code, "message": message}})
}
