// Package gateway is the world's implementation of the Gateway API: what a cluster's
// gateway controller and its data plane are, played, since none of them can reach a
// pod of a lab (docs/decisions/0011-the-worlds-gateway.md).
//
// It owns the status of GatewayClasses whose controllerName is ControllerName, of
// their Gateways, and of HTTPRoutes as far as those name such a Gateway; and, for each
// Gateway, a reverse proxy on a loopback address of its own, which leads to the pods
// that the world runs. The class itself is the lab's (lab/manifest/gateway).
//
// It serves HTTP listeners and HTTPRoutes: hosts, paths (exact and prefix), headers,
// query parameters, methods, weights. What it does not serve (filters, regular
// expressions, TLS, references into other namespaces) it says in the status, as the
// specification wants it, and never serves half.
//
// Everything is level-triggered: what is wrong after a missed event the next look
// puts right. Without a Gateway nothing listens and nothing is asked.
package gateway
