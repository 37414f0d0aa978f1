/** The style of the page. Its hash is in its Content-Security-Policy. */
export const style = `
:root{color-scheme:light dark;
--bg:light-dark(#fff,#131517);--raised:light-dark(#f7f7f4,#1b1e21);--text:light-dark(#1d1c1a,#e9e7e2);
--soft:light-dark(#5b5954,#a9a69e);--line:light-dark(#e2e0da,#31353a);--strong:light-dark(#c9c6be,#4a5057);
--accent:light-dark(#0b5c56,#74d3c8);--wash:light-dark(#e6f1ef,#16312f);
--error:light-dark(#a3211a,#ff9d94);--error-wash:light-dark(#fbeae8,#3a1b19);
--warning:light-dark(#7a4b00,#f2c063);--warning-wash:light-dark(#fbf1dd,#33270f);
--good:light-dark(#1f6133,#8fd6a3);--good-wash:light-dark(#e6f3e9,#16301e);
--sans:ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Helvetica Neue",sans-serif;
--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono","DejaVu Sans Mono",monospace}
:root[data-theme=light]{color-scheme:light}
:root[data-theme=dark]{color-scheme:dark}
*,*::before,*::after{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%;scroll-padding-top:1rem}
body{margin:0;background:var(--bg);color:var(--text);font:1rem/1.6 var(--sans);overflow-wrap:anywhere}
h1,h2,h3,h4{line-height:1.25;margin:0;font-weight:650;text-wrap:balance}
h1{font-size:clamp(1.5rem,1.2rem + 1.4vw,2.125rem);letter-spacing:-.018em}
h2{font-size:1.3125rem;letter-spacing:-.01em}
h3{font-size:1.0625rem}
h4{font-size:.8125rem;color:var(--soft);font-weight:600;margin:1.25rem 0 .375rem}
p{margin:0}
a{color:var(--accent);text-underline-offset:.18em;text-decoration-thickness:1px}
a:hover{text-decoration-thickness:2px}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:3px}
code,pre,kbd,.mono{font-family:var(--mono);font-size:.875em}
ul{list-style:none;margin:0;padding:0}
.text{white-space:pre-line;unicode-bidi:plaintext;max-width:72ch}
.soft{color:var(--soft)}
.small{font-size:.875rem}
.wrap{max-width:78rem;margin:0 auto;padding:0 clamp(1rem,4vw,2.5rem)}
.skip{position:absolute;left:-100vw;top:0;background:var(--bg);color:var(--accent);padding:.625rem 1rem;z-index:2}
.skip:focus{left:0}
.visually-hidden{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
[hidden]{display:none!important}
.hidden-character{background:var(--warning-wash);color:var(--warning);font:600 .75em var(--mono);padding:0 .2em;border-radius:3px;unicode-bidi:isolate;direction:ltr}

.top{border-bottom:1px solid var(--line)}
.top .wrap{display:flex;gap:1rem;align-items:center;justify-content:space-between;min-height:3.5rem}
.button,.chip{font:inherit;font-size:.875rem;line-height:1.25rem;color:var(--text);background:var(--bg);border:1px solid var(--strong);border-radius:6px;padding:.375rem .75rem;cursor:pointer;white-space:nowrap}
.button:hover,.chip:hover{border-color:var(--accent);color:var(--accent)}
.chip{border-radius:99px}
.chip[aria-pressed=true]{background:var(--accent);border-color:var(--accent);color:var(--bg)}

.intro{padding:clamp(1.75rem,5vw,3.25rem) 0 1.5rem}
.intro .text{margin-top:.625rem;font-size:1.0625rem;color:var(--soft)}
.pack h2 .version{font-weight:400;color:var(--soft);font-size:.75em;letter-spacing:0}
.badges{display:flex;flex-wrap:wrap;gap:.375rem;margin-top:.75rem}
.badge{display:inline-block;font-size:.75rem;line-height:1.125rem;padding:.0625rem .5rem;border:1px solid var(--line);border-radius:99px;color:var(--soft);background:var(--raised)}
.badge.error{color:var(--error);background:var(--error-wash);border-color:transparent}
.badge.warning{color:var(--warning);background:var(--warning-wash);border-color:transparent}
.badge.good{color:var(--good);background:var(--good-wash);border-color:transparent}
.badge.accent{color:var(--accent);background:var(--wash);border-color:transparent}

.finder{display:grid;gap:.5rem 1rem;grid-template-columns:1fr auto;align-items:center;padding:.5rem 0 1.25rem;border-bottom:1px solid var(--line);margin-bottom:1.5rem}
.finder label{font-size:.875rem;font-weight:600}
.finder input,.finder .chips{grid-column:1/-1}
@media(min-width:62rem){.finder input,.finder .chips{grid-column:auto}}
.finder input{font:inherit;width:100%;color:inherit;background:var(--bg);border:1px solid var(--strong);border-radius:6px;padding:.5rem .75rem}
.finder input:focus-visible{border-color:var(--accent);outline-offset:0}
.chips{display:flex;flex-wrap:wrap;gap:.5rem}

.packs{display:grid;gap:1rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,21rem),1fr))}
.card{display:flex;flex-direction:column;border:1px solid var(--line);border-radius:10px;padding:1.125rem 1.25rem;background:var(--bg);min-width:0}
.card:hover{border-color:var(--strong)}
.card h3 a{text-decoration:none}
.card h3 a:hover{text-decoration:underline}
.card .version{font-weight:400;color:var(--soft);font-size:.875rem}
.card .text{font-size:.9375rem;margin-top:.375rem;color:var(--soft)}
.card .badges{margin-top:auto;padding-top:.75rem}
.empty{border:1px dashed var(--strong);border-radius:10px;padding:2rem 1.25rem;color:var(--soft);text-align:center}
.empty p+p{margin-top:.5rem}

section{margin:0 0 2.75rem}
section>h2{margin-bottom:.375rem}
section>h2+.soft{margin-bottom:1rem;max-width:72ch}
.pack{border-top:2px solid var(--strong);padding-top:1.75rem}
.pack>.about .text{margin:.5rem 0 0;color:var(--soft)}
.pack>.about .badges{margin-top:.625rem}
.pack>.about .facts{margin:1rem 0 1.5rem}
.pack>.problems{margin-bottom:1.5rem}

.facts{--first:11rem;display:grid;grid-template-columns:minmax(var(--first),max-content) minmax(0,1fr);margin:0;font-size:.9375rem}
.facts dt,.facts dd{margin:0;padding:.4375rem 0;border-top:1px solid var(--line)}
.facts dt{color:var(--soft);padding-right:1.5rem}
.facts dt:first-of-type,.facts dd:first-of-type{border-top:0}

.item{border-top:1px solid var(--line);padding:1.5rem 0 1.75rem}
.item:last-child{padding-bottom:0}
.many .item{content-visibility:auto;contain-intrinsic-size:auto 18rem}
.item:target{border-top-color:var(--accent)}
.item:target h3{color:var(--accent)}
.item h3{font-family:var(--mono);font-weight:600;font-size:1.0625rem}
.item h3 a{color:inherit;text-decoration:none}
.item h3 a:hover{text-decoration:underline}
.item .name{margin-top:.125rem;font-size:.8125rem;color:var(--soft)}
.item .badges{margin-top:.5rem}
.item .description{margin-top:.625rem}
.item>*{max-width:56rem}
.item>.facts{--first:8rem;margin-top:.875rem}
kbd{border:1px solid var(--strong);border-radius:4px;padding:0 .375rem;font-size:.75rem;font-weight:400;color:var(--soft)}

table{border-collapse:collapse;width:100%;font-size:.9375rem}
th,td{text-align:left;vertical-align:top;padding:.5rem 1rem .5rem 0;border-bottom:1px solid var(--line)}
th{font-size:.8125rem;font-weight:600;color:var(--soft);white-space:nowrap}
td:last-child,th:last-child{padding-right:0}
td:first-child{min-width:9rem}
.schema{table-layout:fixed}.schema th:nth-child(1){width:32%}.schema th:nth-child(2){width:22%}
.required{color:var(--error);font-size:.75rem;margin-left:.375rem;white-space:nowrap}
.constraints{display:block;margin-top:.1875rem;font-size:.8125rem;color:var(--soft)}
.depth-2{--depth:1}.depth-3{--depth:2}.depth-4{--depth:3}.depth-5{--depth:4}
.depth{display:block;margin-left:calc(var(--depth,0)*1.125rem);position:relative}
.depth::before{content:"";position:absolute;width:.5rem;height:1.2em;left:-.875rem;top:-.4em;border:solid var(--strong);border-width:0 0 1px 1px}
tr:not([class])>td>.depth::before{content:none}
@media(max-width:40rem){
.stack,.stack tbody,.stack tr,.stack td{display:block;width:auto}
.stack thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.stack tr{border-bottom:1px solid var(--line);padding:.625rem 0}
.stack td{border:0;padding:.0625rem 0;width:auto}
.stack td:empty{display:none}
.schema td:nth-child(2){color:var(--soft)}
.stack td:not(:first-child){margin-left:calc(var(--depth,0)*1.125rem)}
.facts{grid-template-columns:minmax(0,1fr)}
.facts dd{border-top:0;padding-top:0}.facts dt{padding-bottom:0;font-size:.8125rem}
}
details>summary{cursor:pointer}
.source{margin-top:1rem;font-size:.875rem}
.source summary{width:max-content;max-width:100%;color:var(--accent)}
.source summary .mono{margin-left:.5rem;color:var(--soft)}
pre{background:var(--raised);border:1px solid var(--line);border-radius:6px;padding:.875rem 1rem;margin:.625rem 0 0;overflow:auto;max-height:32rem;font-size:.8125rem;line-height:1.5;white-space:pre-wrap}
.note{margin-top:.375rem;font-size:.8125rem;color:var(--soft)}
.names{display:flex;flex-wrap:wrap;gap:.125rem .875rem}

.problems{display:grid;gap:.75rem}
h2+.problems{margin-top:.875rem}
.problem{border-left:3px solid var(--strong);background:var(--raised);border-radius:0 6px 6px 0;padding:.625rem 1rem;font-size:.9375rem}
.problem.error{border-color:var(--error)}
.problem.warning{border-color:var(--warning)}
.problem strong{margin-right:.5rem}
.problem.error strong{color:var(--error)}.problem.warning strong{color:var(--warning)}
.item .problems{margin-top:.75rem}

footer{border-top:1px solid var(--line);margin-top:3rem;padding:1.25rem 0 2.5rem;font-size:.875rem;color:var(--soft)}
@media(prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}}
@media(forced-colors:active){.chip[aria-pressed=true]{border-width:3px}}
@media print{:root,:root[data-theme]{color-scheme:light}.top,.finder,.skip,.source pre,.empty[data-for=search]{display:none!important}
.card,.item{content-visibility:visible;break-inside:avoid}body{font-size:10pt}
a{color:inherit}
.facts a[href^=https]::after{content:none}}
`;
