package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Kubelet is kwok's server of the nodes' kubelet API. kwok does not know when a container has
// ended, so following a log would not end, and it authenticates no client. The world therefore
// runs a proxy in front of it that requires a certificate of the cluster's administrators, which
// the API server has. The proxy serves followed and rotated logs of the world's pods itself and forwards other
// requests under the names that the pods have for kwok (secretNames). It also runs the programs in the
// GPU Operator's containers (execs).
type Kubelet struct {
	Address string
	// Cert and Key are the files of the server and client pair for Address's host. CA is the file
	// of the API server's CA.
	Cert, Key, CA string
}

// logProxy is the server in front of kwok's.
type logProxy struct {
	runtime *runtime
	execs   execs
	log     *slog.Logger
	pass    *httputil.ReverseProxy
	http    *http.Server
	port    int32
	wg      sync.WaitGroup
	life    context.Context //nolint:containedctx // ends hijacked requests
	cancel  context.CancelFunc
}

func startLogProxy(ctx context.Context, k Kubelet, r *runtime, e execs, log *slog.Logger) (*logProxy, error) {
	pair, err := tls.LoadX509KeyPair(k.Cert, k.Key)
	if err != nil {
		return nil, fmt.Errorf("serve logs: %w", err)
	}
	ca, err := os.ReadFile(k.CA)
	if err != nil {
		return nil, fmt.Errorf("serve logs: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("serve logs: no certificate in %s", k.CA)
	}
	host, _, err := net.SplitHostPort(k.Address)
	if err != nil {
		return nil, fmt.Errorf("serve logs: %w", err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, fmt.Errorf("serve logs: %w", err)
	}
	f := &logProxy{runtime: r, execs: e, log: log}
	f.life, f.cancel = context.WithCancel(ctx)
	if a, ok := l.Addr().(*net.TCPAddr); ok {
		f.port = int32(a.Port) //nolint:gosec // a port
	}
	f.pass = &httputil.ReverseProxy{
		Rewrite: func(req *httputil.ProxyRequest) {
			req.SetURL(&url.URL{Scheme: "https", Host: k.Address})
			f.rename(req.Out.URL)
		},
		FlushInterval: -1,
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool, Certificates: []tls.Certificate{pair}}},
		ErrorLog:      slog.NewLogLogger(log.Handler(), slog.LevelDebug), // client disconnects
	}
	f.http = &http.Server{
		Handler: f, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return f.life },
		TLSConfig:   &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert},
		ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	f.wg.Go(func() {
		if err := f.http.ServeTLS(l, "", ""); !errors.Is(err, http.ErrServerClosed) {
			log.Error("serve logs", "err", err)
		}
	})
	return f, nil
}

// requestsEnd is the time for cancelled requests to end. A shutdown of HTTP/2 connections, which the
// API server has to kubelets, would take a second.
const requestsEnd = 50 * time.Millisecond

func (f *logProxy) stop() {
	f.cancel()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(f.life), requestsEnd)
	defer cancel()
	if err := f.http.Shutdown(ctx); err != nil {
		_ = f.http.Close() // close remaining connections
	}
	f.wg.Wait()
	if t, ok := f.pass.Transport.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

// administrators is the group of the API server's client certificate. A real kubelet asks the API
// server to authorize clients; this proxy accepts only this group.
const administrators = "system:masters"

// rename replaces a pod's name in the path by its name for kwok.
func (f *logProxy) rename(u *url.URL) {
	parts := splitPath(u.Path)
	const pod = 2 // containerLogs/NAMESPACE/POD/CONTAINER, portForward/NAMESPACE/POD
	if len(parts) <= pod || !f.runtime.has(parts[1], parts[pod]) {
		return
	}
	parts[pod] = f.runtime.names.of(parts[1], parts[pod])
	u.Path, u.RawPath = "/"+strings.Join(parts, "/"), ""
}

func (f *logProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !slices.Contains(r.TLS.PeerCertificates[0].Subject.Organization, administrators) {
		http.Error(w, "certificate is not of group "+administrators, http.StatusForbidden)
		return
	}
	var namespace, pod, container string
	parts := splitPath(r.URL.Path)
	if len(parts) >= 4 && parts[0] == "exec" { // exec/NAMESPACE/POD/CONTAINER, or with the UID before the container
		if node := f.execs.container(parts[1], parts[2], parts[len(parts)-1]); node != "" {
			f.execs.serve(w, r, node, parts[2], parts[len(parts)-1])
			return
		}
	}
	if len(parts) == 4 && parts[0] == "containerLogs" {
		namespace, pod, container = parts[1], parts[2], parts[3]
	}
	opts, err := parseLogOptions(r.URL.Query(), time.Now())
	if pod == "" || err != nil || opts == nil {
		f.pass.ServeHTTP(w, r)
		return
	}
	of := f.runtime.find(namespace, pod, container)
	if of == nil {
		f.pass.ServeHTTP(w, r)
		return
	}
	attempt := of.attempt()
	opts.from = of.logBegins(attempt)
	if !opts.follow && opts.from == 0 {
		f.pass.ServeHTTP(w, r)
		return
	}
	if most := f.runtime.world.Recent().ContainerLogs.FollowBytes; opts.follow && most > 0 && (opts.limit == nil || *opts.limit > most) {
		opts.limit = &most // the client sees the end that it sees of a container that has ended
	}
	f.send(w, r, of, attempt, *opts)
}

// send sends a container's log; a followed one until the attempt ends.
func (f *logProxy) send(w http.ResponseWriter, r *http.Request, of logged, attempt int, opts logOptions) {
	out := flusher{w: w, rc: http.NewResponseController(w)}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	_ = out.rc.Flush()
	err := followLog(r.Context(), of.logPath(attempt), opts, func() bool { return !opts.follow || of.over(attempt) }, out)
	if err != nil && r.Context().Err() == nil {
		f.log.Warn("cannot send log", "pod", of.podName(), "err", err)
	}
}

// logged is a container with one log per attempt.
type logged interface {
	podName() string
	// attempt is the current attempt.
	attempt() int
	logPath(attempt int) string
	// logBegins is where the file begins that the kubelet serves; earlier entries were rotated away.
	logBegins(attempt int) int64
	// over reports that an attempt has ended and its log is complete.
	over(attempt int) bool
}

// flusher flushes after every write.
type flusher struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

func (f flusher) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	if err == nil {
		_ = f.rc.Flush()
	}
	return n, err
}
