// Package docs holds documentation and code together: its tests fail when a
// page links to nothing, when a gate has no page, when a page or a help text
// shows a command line that the program refuses, and when a page states another
// figure than the profile. It has nothing to run.
package docs
