// The entry of the vendored bundle: GraphiQL with its React, handed to site/graphiql.js by one
// global name.
import { createElement, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { getOperationAST } from 'graphql';
import { GraphiQL } from 'graphiql';
import 'graphiql/graphiql.css';

window.GraphiQLBundle = { GraphiQL, createElement, createRoot, getOperationAST, useState };
