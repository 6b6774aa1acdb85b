// Package chart draws a few kinds of charts as inline SVG, coloured by CSS
// classes so that a page decides on light and dark. It does not depend on the
// meaning of the values, keeps no state, and needs no script.
package chart
