package cluster

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// podNetwork is an HTTP proxy to the unrouted addresses of pods, for clients outside the pod
// network such as Prometheus.
type podNetwork struct {
	http *http.Server
	done chan struct{}
}

// servePods serves the proxy; route returns the real address of host:port of a pod, empty if none.
func servePods(l net.Listener, route func(address string) string, log *slog.Logger) *podNetwork {
	n := &podNetwork{done: make(chan struct{})}
	n.http = &http.Server{Handler: podHandler(route, log), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(n.done)
		_ = n.http.Serve(l) // ends with Close
	}()
	return n
}

func (n *podNetwork) close() {
	_ = n.http.Close()
	<-n.done
}

// podHandler forwards a request for http://POD:PORT/... to the pod's program.
func podHandler(route func(address string) string, log *slog.Logger) http.Handler {
	pass := &httputil.ReverseProxy{
		Rewrite: func(req *httputil.ProxyRequest) {
			req.SetURL(&url.URL{Scheme: "http", Host: route(req.In.URL.Host)})
		},
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug), // disconnects of clients and programs
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		if route(req.URL.Host) == "" {
			http.Error(rw, "no route to "+req.URL.Host, http.StatusBadGateway)
			return
		}
		pass.ServeHTTP(rw, req)
	})
}

// listener returns the real address of the program at host:port of a pod; empty if none.
func (r *runtime) listener(address string) string {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	port, err := strconv.ParseInt(text, 10, 32)
	if err != nil || host == "" {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.workers {
		if at := w.listens(); at != "" && w.current().Status.PodIP == host && w.exposes(int32(port)) {
			return at
		}
	}
	return ""
}

// labelProcess is on pods that represent a process of the lab.
const labelProcess = "firstlight.dev/lab-process"

// processOf returns the address of the process that a pod represents; empty if none.
func processOf(pods cache.Store, processes map[string]string, address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil || len(processes) == 0 {
		return ""
	}
	for _, obj := range pods.List() {
		if pod, ok := obj.(*corev1.Pod); ok && pod.Labels[labelProcess] != "" && pod.Status.PodIP == host {
			return processes[pod.Labels[labelProcess]]
		}
	}
	return ""
}

// exposes reports whether the container declares a port.
func (w *worker) exposes(port int32) bool {
	return slices.ContainsFunc(w.container.Ports, func(p corev1.ContainerPort) bool { return p.ContainerPort == port })
}

func (w *worker) listensAt(address string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = address
}

func (w *worker) listens() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}
