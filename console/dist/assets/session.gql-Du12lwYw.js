import{B as e}from"./index-BRDmGs58.js";var t=e(`query Me {
  me {
    email
    user {
      id
      databaseId
      name
      firstName
      lastName
      otpMethod
      version
    }
    customer {
      id
      databaseId
      name
      level
    }
    grants {
      application
      accountId
      roleName
      isOwner
      features
    }
  }
}`),n=e(`subscription MeUpdated {
  meUpdated {
    email
    user {
      id
      databaseId
      name
      firstName
      lastName
      otpMethod
      version
    }
    customer {
      id
      databaseId
      name
      level
    }
    grants {
      application
      accountId
      roleName
      isOwner
      features
    }
  }
}`),r=e(`mutation UpdateOwnName($input: UpdateUserInput!) {
  updateUser(input: $input) {
    user {
      id
      name
      firstName
      lastName
      version
    }
  }
}`),i=e(`query Sessions {
  me {
    sessions {
      id
      createdAt
      lastUsedAt
      userAgent
      address
      current
    }
  }
}`),a=e(`mutation RevokeSession($input: RevokeSessionInput!) {
  revokeSession(input: $input) {
    session {
      id
    }
  }
}`),o=e(`mutation RevokeOtherSessions($input: RevokeOtherSessionsInput!) {
  revokeOtherSessions(input: $input) {
    sessions {
      id
    }
  }
}`),s=e(`mutation ChangePassword($input: ChangePasswordInput!) {
  changePassword(input: $input) {
    user {
      id
    }
  }
}`),c=e(`mutation RequestEmailChange($input: RequestEmailChangeInput!) {
  requestEmailChange(input: $input) {
    user {
      id
    }
  }
}`),l=e(`mutation EnableTotp($input: EnableTotpInput!) {
  enableTotp(input: $input) {
    secret
    uri
  }
}`),u=e(`mutation ConfirmTotp($input: ConfirmTotpInput!) {
  confirmTotp(input: $input) {
    user {
      id
      otpMethod
    }
    recoveryCodes
  }
}`),d=e(`mutation DisableTotp($input: DisableTotpInput!) {
  disableTotp(input: $input) {
    user {
      id
      otpMethod
    }
  }
}`),f=e(`mutation RegenerateRecoveryCodes($input: RegenerateRecoveryCodesInput!) {
  regenerateRecoveryCodes(input: $input) {
    recoveryCodes
  }
}`),p=e(`query HasPassword {
  me {
    hasPassword
  }
}`),m=e(`query Passkeys {
  me {
    passkeys {
      id
      name
      backedUp
      createdAt
      lastUsedAt
      version
    }
  }
}`),h=e(`mutation BeginPasskey($input: BeginPasskeyInput!) {
  beginPasskey(input: $input) {
    state
    options
  }
}`),g=e(`mutation CreatePasskey($input: CreatePasskeyInput!) {
  createPasskey(input: $input) {
    passkey {
      id
    }
    recoveryCodes
  }
}`),_=e(`mutation UpdatePasskey($input: UpdatePasskeyInput!) {
  updatePasskey(input: $input) {
    passkey {
      id
      name
      version
    }
  }
}`),v=e(`mutation DeletePasskey($input: DeletePasskeyInput!) {
  deletePasskey(input: $input) {
    deletedId
  }
}`),y=e(`query Places {
  me {
    user {
      id
      customers(first: 200) {
        nodes {
          id
          databaseId
          name
          level
          ancestors {
            id
            customer {
              id
            }
          }
        }
      }
    }
  }
}`),b=e(`query Invited {
  me {
    invitations {
      id
      customer {
        id
        databaseId
        name
      }
      expiresAt
    }
  }
}`),x=e(`mutation AcceptInvitation($input: AcceptInvitationInput!) {
  acceptInvitation(input: $input) {
    invitation {
      id
      status
    }
  }
}`),S=e(`mutation DeclineInvitation($input: DeclineInvitationInput!) {
  declineInvitation(input: $input) {
    invitation {
      id
      status
    }
  }
}`),C=e(`mutation LeaveCompany($input: LeaveCustomerInput!) {
  leaveCustomer(input: $input) {
    deletedId
  }
}`),w=e(`mutation EraseOneself($input: EraseUserInput!) {
  eraseUser(input: $input) {
    deletedId
  }
}`);export{r as C,i as S,y as _,g as a,o as b,d as c,p as d,b as f,m as g,n as h,u as i,l,t as m,h as n,S as o,C as p,s as r,v as s,x as t,w as u,f as v,_ as w,a as x,c as y};