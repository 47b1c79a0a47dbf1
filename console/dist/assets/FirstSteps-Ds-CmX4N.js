import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{B as t,U as n,Z as r,et as i,rt as a,tt as o}from"./index-BRDmGs58.js";import{n as s}from"./Home-DqcibOuU.js";import{t as c}from"./List-BaF4CVfF.js";import{I as l,N as u,R as d,i as f,l as p,m,o as h,p as g,s as _}from"./text-CCoWELrg.js";import{i as v,t as y}from"./react-BNCMh3YF.js";import{t as b}from"./use-window-event-odhWtM5o.js";import{t as x}from"./IconCheck-CTWdAVav.js";import{t as S}from"./createReactComponent-COCFm0Eo.js";import{n as C}from"./hooks-BjxI6Knb.js";import{o as w}from"./rights-DWC3rBmv.js";var T=e(v(),1);function E(e,t=`use-local-storage`){try{return JSON.stringify(e)}catch{throw Error(`@mantine/hooks ${t}: Failed to serialize the value`)}}function D(e){try{return e&&JSON.parse(e)}catch{return e}}function O(e){return{getItem:t=>{try{return window[e].getItem(t)}catch{return console.warn(`use-local-storage: Failed to get value from storage, localStorage is blocked`),null}},setItem:(t,n)=>{try{window[e].setItem(t,n)}catch{console.warn(`use-local-storage: Failed to set value to storage, localStorage is blocked`)}},removeItem:t=>{try{window[e].removeItem(t)}catch{console.warn(`use-local-storage: Failed to remove value from storage, localStorage is blocked`)}}}}function k(e,t){let n=e===`localStorage`?`mantine-local-storage`:`mantine-session-storage`,{getItem:r,setItem:i,removeItem:a}=O(e);return function({key:o,defaultValue:s,getInitialValueInEffect:c=!0,sync:l=!0,deserialize:u=D,serialize:d=e=>E(e,t)}){let f=(0,T.useCallback)(t=>{let n;try{n=typeof window>`u`||!(e in window)||window[e]===null||!!t}catch{n=!0}if(n)return s;let i=r(o);return i===null?s:u(i)},[o,s]),[p,m]=(0,T.useState)(f(c)),h=(0,T.useCallback)(e=>{e instanceof Function?m(t=>{let r=e(t);return i(o,d(r)),queueMicrotask(()=>{window.dispatchEvent(new CustomEvent(n,{detail:{key:o,value:r}}))}),r}):(i(o,d(e)),window.dispatchEvent(new CustomEvent(n,{detail:{key:o,value:e}})),m(e))},[o]),g=(0,T.useCallback)(()=>{a(o),m(s),window.dispatchEvent(new CustomEvent(n,{detail:{key:o,value:s}}))},[o,s]);return b(`storage`,t=>{l&&t.storageArea===window[e]&&t.key===o&&m(u(t.newValue??void 0))}),b(n,e=>{l&&e.detail.key===o&&m(e.detail.value)}),(0,T.useEffect)(()=>{s!==void 0&&p===void 0&&h(s)},[s,p,h]),(0,T.useEffect)(()=>{let e=f();e!==void 0&&h(e)},[o]),[p===void 0?s:p,h,g]}}function A(e){let{getItem:t}=O(e);return function({key:n,defaultValue:r,deserialize:i=D}){let a;try{a=typeof window>`u`||!(e in window)||window[e]===null}catch{a=!0}if(a)return r;let o=t(n);return o===null?r:i(o)}}function j(e){return k(`localStorage`,`use-local-storage`)(e)}A(`localStorage`);var M={root:`m_7341320d`},N=y(),P=u((e,{size:t,radius:n,variant:r,gradient:i,color:a,autoContrast:o})=>{let s=e.variantColorResolver({color:a||e.primaryColor,theme:e,gradient:i,variant:r||`filled`,autoContrast:o});return{root:{"--ti-size":d(t,`ti-size`),"--ti-radius":n===void 0?void 0:l(n),"--ti-bg":a||r?s.background:void 0,"--ti-color":a||r?s.color:void 0,"--ti-bd":a||r?s.border:void 0}}}),F=p(e=>{let t=m(`ThemeIcon`,null,e),{classNames:n,className:r,style:i,styles:a,unstyled:o,vars:s,autoContrast:c,attributes:l,...u}=t,d=g({name:`ThemeIcon`,classes:M,props:t,className:r,style:i,classNames:n,styles:a,unstyled:o,attributes:l,vars:s,varsResolver:P});return(0,N.jsx)(_,{...d(`root`),...u})});F.classes=M,F.varsResolver=P,F.displayName=`@mantine/core/ThemeIcon`;var I=S(`outline`,`circle-dashed`,`CircleDashed`,[[`path`,{d:`M8.56 3.69a9 9 0 0 0 -2.92 1.95`,key:`svg-0`}],[`path`,{d:`M3.69 8.56a9 9 0 0 0 -.69 3.44`,key:`svg-1`}],[`path`,{d:`M3.69 15.44a9 9 0 0 0 1.95 2.92`,key:`svg-2`}],[`path`,{d:`M8.56 20.31a9 9 0 0 0 3.44 .69`,key:`svg-3`}],[`path`,{d:`M15.44 20.31a9 9 0 0 0 2.92 -1.95`,key:`svg-4`}],[`path`,{d:`M20.31 15.44a9 9 0 0 0 .69 -3.44`,key:`svg-5`}],[`path`,{d:`M20.31 8.56a9 9 0 0 0 -1.95 -2.92`,key:`svg-6`}],[`path`,{d:`M15.44 3.69a9 9 0 0 0 -3.44 -.69`,key:`svg-7`}]]),L=t(`query HasCompanies {
  me {
    customer {
      id
      children(first: 1) {
        nodes {
          id
        }
      }
    }
  }
}`),R=t(`query HasPeople {
  users(first: 2) {
    nodes {
      id
    }
  }
}`),z=t(`query HasDocuments {
  documents(first: 1, filter: {status: ready}) {
    nodes {
      id
    }
  }
}`),B=t(`query HasAgents {
  runs(subtree: false, first: 1) {
    nodes {
      id
    }
  }
}`),V=t(`query HasDestinations {
  webhookDestinations(first: 1) {
    nodes {
      id
    }
  }
}`),H=t(`query HasKeys {
  me {
    customer {
      id
      apiKeys(first: 1) {
        nodes {
          id
        }
      }
    }
  }
}`);function U(e){return e}var W=[U({name:`companies`,needs:`company.create`,to:`/companies`,document:L,done:({me:e})=>e.customer.children.nodes.length>0}),U({name:`people`,needs:`user.write`,to:`/people/invite`,document:R,done:({users:e})=>e.nodes.length>1}),U({name:`documents`,needs:`context.write`,to:`/contexts`,document:z,done:({documents:e})=>!!e?.nodes.length}),U({name:`agents`,needs:`agent.write`,to:`/agents/new`,document:B,done:({runs:e})=>!!e?.nodes.length}),U({name:`destinations`,needs:`webhook.write`,to:`/webhooks/destinations`,document:V,done:({webhookDestinations:e})=>!!e?.nodes.length}),U({name:`keys`,needs:`key.write`,to:`/keys`,document:H,done:({me:e})=>e.customer.apiKeys.nodes.length>0})];function G(){let{text:e}=f(),t=w(),[n,o]=j({key:`canopy-first-steps`,defaultValue:``,getInitialValueInEffect:!1}),l=W.filter(({needs:e})=>t.can(e));return l.length===0?null:n?(0,N.jsx)(i,{w:`fit-content`,variant:`default`,size:`xs`,onClick:()=>o(``),children:e.app.showSteps}):(0,N.jsxs)(s,{withBorder:!0,component:`section`,"aria-label":e.app.firstSteps,maw:`44rem`,children:[(0,N.jsxs)(a,{justify:`space-between`,children:[(0,N.jsx)(r,{order:2,size:`h4`,children:e.app.firstSteps}),(0,N.jsx)(i,{variant:`default`,size:`xs`,onClick:()=>o(`hidden`),children:e.app.hideSteps})]}),(0,N.jsx)(h,{size:`sm`,c:`dimmed`,children:e.app.stepsOf(t.customer.name)}),(0,N.jsxs)(c,{mt:`sm`,spacing:`sm`,listStyleType:`none`,children:[t.user.otpMethod===`none`?(0,N.jsx)(q,{to:`/profile`,done:!1,of:`twoFactor`}):(0,N.jsx)(q,{to:`/profile`,done:!0,of:`twoFactor`}),l.map(e=>(0,N.jsx)(K,{step:e},e.name))]})]})}function K({step:{name:e,to:t,document:n,done:r}}){let{data:i}=C(n,{});return(0,N.jsx)(q,{to:t,done:i!==void 0&&r(i),of:e})}function q({to:e,done:t,of:r}){let{text:i}=f(),{title:a,hint:s}=i.app.steps[r];return(0,N.jsxs)(c.Item,{icon:(0,N.jsx)(F,{variant:`light`,size:`sm`,radius:`xl`,color:t?`canopy`:`gray`,children:t?(0,N.jsx)(x,{size:14,role:`img`,"aria-label":i.app.stepDone}):(0,N.jsx)(I,{size:14,role:`img`,"aria-label":i.app.stepOpen})}),children:[(0,N.jsx)(o,{component:n,to:e,size:`sm`,td:`underline`,children:a}),(0,N.jsx)(h,{size:`sm`,c:`dimmed`,children:s})]})}export{G as FirstSteps};